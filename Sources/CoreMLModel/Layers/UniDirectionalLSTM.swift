public struct UniDirectionalLSTM: LayerParameters {
  public static let typeName = "uniDirectionalLSTM"
  public static let minimumRank = 5
  public static let inputCount = 1...3
  public static let outputCount = 1...3

  public var inputVectorSize = 0
  public var outputVectorSize = 0
  /// Of the gates, of the cell, of the output.
  public var activations: [Activation] = []
  public var params: LSTMParameters?
  public var weightParams: LSTMWeights?
  public var reverseInput = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension UniDirectionalLSTM: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .messages("activations", \.activations),
    .message("params", \.params),
    .message("weightParams", \.weightParams),
    .bool("reverseInput", \.reverseInput),
  ]
}

extension UniDirectionalLSTM {
  /// Of the output, of the hidden state and of the cell state.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 2,
      sequenceOutput: params?.sequenceOutput ?? false)
  }

  public var weights: [NamedWeights] {
    weightParams?.named("weightParams", inputVectorSize, outputVectorSize) ?? []
  }
}

extension UniDirectionalLSTM: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireRecurrent(activations, 3)
    faults.require(weightParams != nil, "weightParams", "no weights")
    weightParams?.check(&faults, "weightParams", params)
  }
}
