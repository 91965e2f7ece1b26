import TensorCore

package struct BiDirectionalLSTM: RecurrentLayer {
  package static let inputCount = 1...5
  package static let outputCount = 5...5

  package var inputVectorSize = 0
  package var outputVectorSize = 0
  package var activationsForwardLSTM: [Activation] = []
  package var activationsBackwardLSTM: [Activation] = []
  package var params: LSTMParameters?
  /// Forward, then backward.
  package var weightParams: [LSTMWeights] = []

  package init() {}

  package static let fields: Fields = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .messages("activationsForwardLSTM", \.activationsForwardLSTM),
    .messages("activationsBackwardLSTM", \.activationsBackwardLSTM),
    .message("params", \.params),
    .messages("weightParams", \.weightParams),
  ]

  package var gateCount: Int { 2 * (params ?? LSTMParameters()).gateCount }
  package var functions: [Activation] { activationsForwardLSTM + activationsBackwardLSTM }

  /// Shapes of the double-width output and of the forward and backward hidden and cell states.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shapes = try recurrentShapes(
      inputs, states: 4, sequenceOutput: params?.sequenceOutput ?? false)
    shapes[0][2] = try checkedProduct([outputVectorSize, 2], limit: Limits.dimension)
    shapes[0] = try BlobShape(shapes[0]).checked
    return shapes
  }

  package var weights: [NamedWeights] {
    weightParams.enumerated().flatMap {
      $1.named("weightParams[\($0)]", inputVectorSize, outputVectorSize)
    }
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.requireRecurrent(activationsForwardLSTM, 3)
    faults.requireRecurrent(activationsBackwardLSTM, 3)
    faults.require(
      weightParams.count == 2, "weightParams", "\(weightParams.count) directions; two are needed")
    for (index, weights) in weightParams.enumerated() {
      weights.check(&faults, "weightParams[\(index)]", params)
    }
  }
}
