import Interpretation
import TensorCore

extension DarknetOperations {
  static let products: [String: DarknetOperation] = [
    "connected": connected, "conn": connected,
    "implicit": { maker, plan in
      // implicit_layer.c: constants.
      let shape = [try maker.size("filters", 128), try maker.size("atoms", 1), 1]
      let values = try plan.weights.numbers(
        checkedProduct(shape, limit: Limits.tensorElements))
      return try maker.made(shape) { _ in DoubleArray(shape: shape, values) }
    },
    "activation": { maker, _ in
      let activation = try maker.activation("linear")
      return try maker.made(maker.input) { try activation($0.input) }
    },
    "logistic": { maker, _ in
      try maker.made(maker.input) { $0.input.map(DarknetActivations.logistic) }
    },
  ]

  /// connected_layer.c
  private static let connected: DarknetOperation = { maker, plan in
    let outputs = try maker.size("output", 1)
    let product = try ConnectedProduct(
      maker.count, outputs, isNormalized: try maker.section.bool("batch_normalize"), &plan)
    let activation = try maker.activation("logistic")
    return try maker.made([outputs, 1, 1]) { try activation(product.applied(to: $0.input)) }
  }
}

/// A connected layer without its activation, read as in load_connected_weights: the biases, the
/// matrix, then the normalization.
struct ConnectedProduct {
  private let inputs: Int
  private let outputs: Int
  private let isTransposed: Bool
  private let matrix: [Float]
  private let affine: ChannelAffine

  init(_ inputs: Int, _ outputs: Int, isNormalized: Bool, _ plan: inout DarknetPlan) throws {
    self.inputs = inputs
    self.outputs = outputs
    let biases = try plan.weights.numbers(outputs)
    isTransposed = plan.weights.isTransposed
    matrix = try plan.weights.take([outputs, inputs]).array()
    affine = ChannelAffine(
      biases: biases, numbers: isNormalized ? try ChannelAffine.numbers(outputs, &plan) : nil)
  }

  func applied(to input: DoubleArray) throws -> DoubleArray {
    try require(
      input.count == inputs, .mismatch, "\(input.count) numbers for a matrix of \(inputs) columns")
    var result = try DoubleArray(shape: [outputs, 1, 1])
    for output in 0..<outputs {
      var sum = 0.0
      for index in 0..<inputs {
        let position = isTransposed ? index * outputs + output : output * inputs + index
        sum += input.values[index] * Double(matrix[position])
      }
      result.values[output] = sum
    }
    affine.apply(to: &result)
    return result
  }
}
