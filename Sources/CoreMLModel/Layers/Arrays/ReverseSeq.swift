import TensorCore

/// Reverses the first elements along an axis; the second input, `[B]`, holds their number for each
/// batch item.
package struct ReverseSeq: ArrayLayer {
  package static let inputCount = 2...2
  package static let minimumRank = 2

  /// Must come before `sequenceAxis`; negative values of both count from the end.
  package var batchAxis = 0
  package var sequenceAxis = 0

  package init() {}

  package static let fields: Fields = [
    .int("batchAxis", \.batchAxis), .int("sequenceAxis", \.sequenceAxis),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    let batch = try ArrayShape.axis(batchAxis, rank: shape.count, "batchAxis")
    let sequence = try ArrayShape.axis(sequenceAxis, rank: shape.count, "sequenceAxis")
    try require(
      batch < sequence, "axis \(sequenceAxis) must come after the batch axis \(batchAxis)",
      field: "sequenceAxis")
    try require(
      inputs[1] == [shape[batch]],
      "the lengths have the shape \(inputs[1]); expected [\(shape[batch])]", field: "input")
    return [shape]
  }
}
