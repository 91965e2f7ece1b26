package struct UniDirectionalLSTM: RecurrentLayer {
  package static let inputCount = 1...3
  package static let outputCount = 3...3

  package var inputVectorSize = 0
  package var outputVectorSize = 0
  /// Activations of the gates, the cell and the output.
  package var activations: [Activation] = []
  package var params: LSTMParameters?
  package var weightParams: LSTMWeights?
  package var reverseInput = false

  package init() {}

  package static let fields: Fields = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .messages("activations", \.activations),
    .message("params", \.params),
    .message("weightParams", \.weightParams),
    .bool("reverseInput", \.reverseInput),
  ]

  package var gateCount: Int { (params ?? LSTMParameters()).gateCount }
  package var functions: [Activation] { activations }

  /// Shapes of the output, the hidden state and the cell state.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(inputs, states: 2, sequenceOutput: params?.sequenceOutput ?? false)
  }

  package var weights: [NamedWeights] {
    weightParams?.named("weightParams", inputVectorSize, outputVectorSize) ?? []
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.requireRecurrent(activations, 3)
    faults.require(weightParams != nil, "weightParams", "the weights are missing")
    weightParams?.check(&faults, "weightParams", params)
  }
}
