/// exp(x − max) / Σ exp(x − max) along an axis.
package struct SoftmaxND: ArrayLayer {
  /// Negative values count from the end.
  package var axis = 0

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}
