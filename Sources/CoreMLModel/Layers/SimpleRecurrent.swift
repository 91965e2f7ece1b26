/// h = f(W·x + R·h + b)
public struct SimpleRecurrent: LayerParameters {
  public static let typeName = "simpleRecurrent"
  public static let minimumRank = 5
  public static let inputCount = 1...2
  public static let outputCount = 1...2

  public var inputVectorSize = 0
  public var outputVectorSize = 0
  public var activation: Activation?
  public var sequenceOutput = false
  public var hasBiasVector = false
  public var weightMatrix: Weights?
  public var recursionMatrix: Weights?
  public var biasVector: Weights?
  public var reverseInput = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension SimpleRecurrent: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .message("activation", \.activation),
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVector", \.hasBiasVector),
    .message("weightMatrix", \.weightMatrix),
    .message("recursionMatrix", \.recursionMatrix),
    .message("biasVector", \.biasVector),
    .bool("reverseInput", \.reverseInput),
  ]
}

extension SimpleRecurrent {
  /// Of the output and of the state.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 1, sequenceOutput: sequenceOutput)
  }

  public var weights: [NamedWeights] {
    named(
      ("weightMatrix", weightMatrix), ("recursionMatrix", recursionMatrix),
      ("biasVector", biasVector)
    ) { recurrentWeightShape($0, inputVectorSize, outputVectorSize) }
  }
}

extension SimpleRecurrent: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireRecurrent(activation.map { [$0] } ?? [], 1)
    faults.requireWeights(
      ("weightMatrix", weightMatrix), ("recursionMatrix", recursionMatrix))
    faults.requireWeights(("biasVector", biasVector, hasBiasVector))
  }
}
