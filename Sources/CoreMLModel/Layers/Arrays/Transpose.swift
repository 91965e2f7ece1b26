import TensorCore

/// Axis `i` of the output is axis `axes[i]` of the input.
package struct Transpose: ArrayLayer {
  package var axes: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("axes", \.axes)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      axes.sorted() == Array(shape.indices),
      "\(axes) is not a permutation of the axes 0 to \(shape.count - 1)", field: "axes")
    return [try ArrayShape.checked(axes.map { shape[$0] })]
  }
}
