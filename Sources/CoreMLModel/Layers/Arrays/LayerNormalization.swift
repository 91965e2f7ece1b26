import TensorCore

/// γ · (x − μ) / √(σ² + ε) + β over the last axes, whose lengths are `normalizedShape`.
package struct LayerNormalization: ArrayLayer {
  package var normalizedShape: [Int] = []
  /// Used as stored; 0 has no special meaning.
  package var eps: Float = 0
  /// Weights with the shape `normalizedShape`.
  package var gamma: Weights?
  package var beta: Weights?

  package init() {}

  package static let fields: Fields = [
    .ints("normalizedShape", \.normalizedShape),
    .float("eps", \.eps),
    .weights("gamma", \.gamma, \.normalizedShape),
    .weights("beta", \.beta, \.normalizedShape),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    try require(
      !normalizedShape.isEmpty && shape.suffix(normalizedShape.count) == normalizedShape[...],
      "\(normalizedShape) are not the last axes of the input's \(shape)", field: "normalizedShape")
    return [shape]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(!normalizedShape.isEmpty, "normalizedShape", "no axes")
  }
}
