import TensorCore

/// How an element and the update scattered onto it are combined.
package enum ScatterMode: Int, Sendable, CaseIterable {
  case update = 0
  case add = 1
  case subtract = 2
  case multiply = 3
  case divide = 4
  case maximum = 5
  case minimum = 6
}

/// The first input, in which elements along an axis, at the positions that the second one holds, are
/// combined with those of the third, one after the other.
package struct Scatter: ArrayLayer {
  package static let inputCount = 3...3

  /// Negative values count from the end.
  package var axis = 0
  package var mode = ScatterMode.update

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis), .value("mode", \.mode)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    var updates = shape
    updates.replaceSubrange(axis...axis, with: inputs[1])
    try requireUpdates(inputs, updates)
    return [shape]
  }
}

/// The first input, in which the parts at the positions that the last axis of the second one holds are
/// combined with those of the third, one after the other.
package struct ScatterND: ArrayLayer {
  package static let inputCount = 3...3

  package var mode = ScatterMode.update

  package init() {}

  package static let fields: Fields = [.value("mode", \.mode)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    let depth = inputs[1].last ?? 0
    try require(
      depth > 0 && depth <= shape.count,
      "indices of shape \(inputs[1]) do not match an input of shape \(shape)", field: "input")
    try requireUpdates(inputs, inputs[1].dropLast() + shape.dropFirst(depth))
    return [shape]
  }
}

/// Combines element (…, k, …) of the first input, for each k = second input (…, i, …), with element
/// (…, i, …) of the third, one after the other.
package struct ScatterAlongAxis: ArrayLayer {
  package static let inputCount = 3...3

  /// Negative values count from the end.
  package var axis = 0
  package var mode = ScatterMode.update

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis), .value("mode", \.mode)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let positions = inputs[1]
    try require(
      positions.count == shape.count
        && shape.indices.allSatisfy({ $0 == axis || shape[$0] == positions[$0] }),
      "shapes \(inputs) differ in axes other than \(axis)", field: "input")
    try requireUpdates(inputs, positions)
    return [shape]
  }
}

extension LayerParameters {
  /// Throws if the third input does not have the shape that the others imply; the rank of a scalar
  /// is ignored.
  fileprivate func requireUpdates(_ inputs: [[Int]], _ shape: [Int]) throws {
    let isScalar = (inputs[2] + shape).allSatisfy { $0 == 1 }
    try require(
      inputs[2] == shape || isScalar,
      "the updates have the shape \(inputs[2]); \(shape) is needed", field: "input")
  }
}
