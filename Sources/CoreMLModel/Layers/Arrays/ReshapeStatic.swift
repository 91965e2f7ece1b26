import TensorCore

/// The same elements in another shape; one size may be −1.
package struct ReshapeStatic: ArrayLayer {
  package var targetShape: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("targetShape", \.targetShape)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [try ArrayShape.reshaped(try arrayInput(inputs), to: targetShape, "targetShape")]
  }
}

/// The same elements in another shape of the same rank: 0 keeps a size, and one size may be −1.
package struct RankPreservingReshape: ArrayLayer {
  package var targetShape: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("targetShape", \.targetShape)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      targetShape.count == shape.count,
      "\(targetShape) does not match an input of rank \(shape.count)", field: "targetShape")
    let target = zip(targetShape, shape).map { $0 == 0 ? $1 : $0 }
    return [try ArrayShape.reshaped(shape, to: target, "targetShape")]
  }
}

/// The first input's elements in the second input's shape.
package struct ReshapeLike: ArrayLayer, ParameterlessLayer {
  package static let inputCount = 2...2

  package init() {}

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    return [try ArrayShape.reshaped(shape, to: inputs[1], "input")]
  }
}

/// Flattens to two axes: the axes before `axis`, and the rest.
package struct FlattenTo2D: ArrayLayer {
  /// Negative values count from the end.
  package var axis = 0

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    // The position after the last axis is also valid.
    let index =
      axis == shape.count ? axis : try ArrayShape.axis(axis, rank: shape.count)
    return [
      try ArrayShape.checked([
        try checkedProduct(shape[..<index]), try checkedProduct(shape[index...]),
      ])
    ]
  }
}

/// Inserts axes of length 1 at these axes of the output.
package struct ExpandDims: ArrayLayer {
  package static let minimumRank = 0

  /// Negative values count from the end of the output.
  package var axes: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("axes", \.axes)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let rank = shape.count + axes.count
    try require(
      rank <= Limits.rank, "the result would have rank \(rank); the limit is \(Limits.rank)",
      field: "axes")
    let indices = try ArrayShape.axes(axes, rank: rank)
    var sizes = shape.makeIterator()
    return [try ArrayShape.checked((0..<rank).map { indices.contains($0) ? 1 : sizes.next() ?? 1 })]
  }
}

/// Removes the given axes of length 1, or all of them.
package struct Squeeze: ArrayLayer {
  /// Negative values count from the end.
  package var axes: [Int] = []
  package var squeezeAll = false

  package init() {}

  package static let fields: Fields = [.ints("axes", \.axes), .bool("squeezeAll", \.squeezeAll)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let dropped =
      squeezeAll
      ? shape.indices.filter { shape[$0] == 1 } : try ArrayShape.axes(axes, rank: shape.count)
    try require(
      dropped.allSatisfy({ shape[$0] == 1 }),
      "the axes \(axes) of \(shape) are not all of length 1", field: "axes")
    let kept = shape.indices.filter { !dropped.contains($0) }.map { shape[$0] }
    return [try checkedShape(kept)]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(squeezeAll || !axes.isEmpty, "axes", "there are none")
  }
}

extension ArrayShape {
  /// `target` with −1 replaced to match the number of elements of `shape`.
  static func reshaped(_ shape: [Int], to target: [Int], _ field: String) throws -> [Int] {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let open = target.indices.filter { target[$0] == -1 }
    try require(
      open.count <= 1 && (target.allSatisfy({ $0 == -1 || $0 > 0 })),
      "\(target) is invalid; it takes positive sizes and at most one −1", field: field)
    var result = target
    let known = try checkedProduct(target.filter { $0 != -1 }, limit: Limits.tensorElements)
    if let axis = open.first { result[axis] = count / known }
    try require(
      checkedProduct(result, limit: Limits.tensorElements) == count,
      "\(target) does not match the \(count) elements of \(shape)", field: field)
    return try checked(result, field)
  }
}
