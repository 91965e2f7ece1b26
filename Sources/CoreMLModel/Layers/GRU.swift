/// z, r = g(W·x + R·h + b); o = f(W·x + R·(r ∘ h) + b); h = (1 − z) ∘ o + z ∘ h
public struct GRU: LayerParameters {
  public static let typeName = "gru"
  public static let minimumRank = 5
  public static let inputCount = 1...2
  public static let outputCount = 1...2

  public var inputVectorSize = 0
  public var outputVectorSize = 0
  /// Of the gates, of the cell.
  public var activations: [Activation] = []
  public var sequenceOutput = false
  public var hasBiasVectors = false
  public var updateGateWeightMatrix: Weights?
  public var resetGateWeightMatrix: Weights?
  public var outputGateWeightMatrix: Weights?
  public var updateGateRecursionMatrix: Weights?
  public var resetGateRecursionMatrix: Weights?
  public var outputGateRecursionMatrix: Weights?
  public var updateGateBiasVector: Weights?
  public var resetGateBiasVector: Weights?
  public var outputGateBiasVector: Weights?
  public var reverseInput = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension GRU: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .messages("activations", \.activations),
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVectors", \.hasBiasVectors),
    .message("updateGateWeightMatrix", \.updateGateWeightMatrix),
    .message("resetGateWeightMatrix", \.resetGateWeightMatrix),
    .message("outputGateWeightMatrix", \.outputGateWeightMatrix),
    .message("updateGateRecursionMatrix", \.updateGateRecursionMatrix),
    .message("resetGateRecursionMatrix", \.resetGateRecursionMatrix),
    .message("outputGateRecursionMatrix", \.outputGateRecursionMatrix),
    .message("updateGateBiasVector", \.updateGateBiasVector),
    .message("resetGateBiasVector", \.resetGateBiasVector),
    .message("outputGateBiasVector", \.outputGateBiasVector),
    .bool("reverseInput", \.reverseInput),
  ]
}

extension GRU {
  /// Of the output and of the state.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 1, sequenceOutput: sequenceOutput)
  }

  public var weights: [NamedWeights] {
    named(
      ("updateGateWeightMatrix", updateGateWeightMatrix),
      ("resetGateWeightMatrix", resetGateWeightMatrix),
      ("outputGateWeightMatrix", outputGateWeightMatrix),
      ("updateGateRecursionMatrix", updateGateRecursionMatrix),
      ("resetGateRecursionMatrix", resetGateRecursionMatrix),
      ("outputGateRecursionMatrix", outputGateRecursionMatrix),
      ("updateGateBiasVector", updateGateBiasVector),
      ("resetGateBiasVector", resetGateBiasVector),
      ("outputGateBiasVector", outputGateBiasVector)
    ) { recurrentWeightShape($0, inputVectorSize, outputVectorSize) }
  }
}

extension GRU: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireRecurrent(activations, 2)
    faults.requireWeights(
      ("updateGateWeightMatrix", updateGateWeightMatrix),
      ("resetGateWeightMatrix", resetGateWeightMatrix),
      ("outputGateWeightMatrix", outputGateWeightMatrix),
      ("updateGateRecursionMatrix", updateGateRecursionMatrix),
      ("resetGateRecursionMatrix", resetGateRecursionMatrix),
      ("outputGateRecursionMatrix", outputGateRecursionMatrix))
    faults.requireWeights(
      ("updateGateBiasVector", updateGateBiasVector, hasBiasVectors),
      ("resetGateBiasVector", resetGateBiasVector, hasBiasVectors),
      ("outputGateBiasVector", outputGateBiasVector, hasBiasVectors))
  }
}
