import TensorCore

/// Repeats the input along axes of length 1 to a given shape.
package struct BroadcastToStatic: ArrayLayer {
  package var targetShape: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("targetShape", \.targetShape)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [try ArrayShape.broadcast(try arrayInput(inputs), to: targetShape, "targetShape")]
  }
}

/// Repeats the first input along axes of length 1 to the second input's shape.
package struct BroadcastToLike: ArrayLayer, ParameterlessLayer {
  package static let inputCount = 2...2

  package init() {}

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [try ArrayShape.broadcast(try arrayInput(inputs), to: inputs[1], "input")]
  }
}

/// Repeats the first input `reps[axis]` times along each axis; a second input may hold the counts.
package struct Tile: ArrayLayer, DynamicLayer {
  package static let inputCount = 1...2

  /// Aligned at the last axis; leading axes without an entry are not repeated.
  package var reps: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("reps", \.reps)]

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    with(\.reps, try values[0].wholes("input"))
  }

  /// The number of repetitions for each axis of the input.
  package func repetitions(rank: Int) throws -> [Int] {
    try require(
      reps.count <= rank && reps.allSatisfy({ $0 > 0 }),
      "\(reps) does not match an input of rank \(rank)", field: "reps")
    return [Int](repeating: 1, count: rank - reps.count) + reps
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let counts = try repetitions(rank: shape.count)
    return [
      try ArrayShape.checked(
        try zip(shape, counts).map { try checkedProduct([$0, $1], limit: Limits.dimension) },
        "reps")
    ]
  }
}

/// Pads the input with a constant.
package struct ConstantPad: ArrayLayer {
  package var value: Float = 0
  /// Amounts before and after each axis. In `padToGivenOutputSizeMode`, minimum lengths, with 0 for
  /// an unchanged axis: the first number of pair i pads axis i at the start, the second at the end.
  package var padAmounts: [Int] = []
  package var padToGivenOutputSizeMode = false

  package init() {}

  package static let fields: Fields = [
    .float("value", \.value),
    .ints("padAmounts", \.padAmounts),
    .bool("padToGivenOutputSizeMode", \.padToGivenOutputSizeMode),
  ]

  /// Padding before and after each axis of `shape`.
  package func amounts(_ shape: [Int]) throws -> [(before: Int, after: Int)] {
    try require(
      padAmounts.count == 2 * shape.count
        && padAmounts.allSatisfy({ $0 >= 0 && $0 <= Limits.dimension }),
      "\(padAmounts) is invalid; two amounts for each of \(shape.count) axes are needed",
      field: "padAmounts")
    return shape.indices.map { axis in
      let (before, after) = (padAmounts[2 * axis], padAmounts[2 * axis + 1])
      guard padToGivenOutputSizeMode else { return (before, after) }
      return before > 0 ? (max(0, before - shape[axis]), 0) : (0, max(0, after - shape[axis]))
    }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    return [
      try ArrayShape.checked(
        try zip(shape, try amounts(shape)).map {
          try checkedSum([$0, $1.before, $1.after], limit: Limits.dimension)
        }, "padAmounts")
    ]
  }
}

extension ArrayShape {
  /// `target`, after checking that `shape` can be broadcast to it.
  static func broadcast(_ shape: [Int], to target: [Int], _ field: String) throws -> [Int] {
    try require(
      broadcast([shape, target]) == target, "\(shape) cannot be broadcast to \(target)",
      field: field)
    return try checked(target, field)
  }
}
