import TensorCore

/// Axis `i` of the output is axis `axes[i]` of the input. Extra leading axes of length 1 in the
/// input, such as those of an image, stay in place.
package struct Transpose: ArrayLayer {
  package var axes: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("axes", \.axes)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let permutation = permutation(of: shape)
    try require(
      permutation.sorted() == Array(shape.indices),
      "\(axes) is not a permutation of the axes 0 to \(shape.count - 1)", field: "axes")
    return [try ArrayShape.checked(permutation.map { shape[$0] })]
  }

  /// The axes for an input of this shape.
  package func permutation(of shape: [Int]) -> [Int] {
    let extra = shape.count - axes.count
    guard extra > 0, shape.prefix(extra).allSatisfy({ $0 == 1 }) else { return axes }
    return Array(0..<extra) + axes.map { $0 + extra }
  }
}
