import TensorCore

/// Concatenates the inputs along an axis.
package struct ConcatND: ArrayLayer {
  package static let inputCount = 2...Int.max

  /// Negative values count from the end.
  package var axis = 0
  /// Whether the inputs, all of the same shape, are interleaved along the axis.
  package var interleave = false

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis), .bool("interleave", \.interleave)]

  package var requiredSpecificationVersion: Int { interleave ? 5 : 4 }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var result = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: result.count)
    for shape in inputs.dropFirst() {
      let fits =
        shape.count == result.count
        && shape.indices.allSatisfy { $0 == axis || shape[$0] == result[$0] }
        && (!interleave || shape == inputs[0])
      try require(fits, "shapes \(inputs) differ in axes other than \(axis)", field: "input")
      result[axis] = try checkedSum([result[axis], shape[axis]], limit: Limits.dimension)
    }
    return [try ArrayShape.checked(result)]
  }
}

/// Stacks the inputs, all of the same shape, along a new axis.
package struct Stack: ArrayLayer {
  package static let minimumRank = 0
  package static let inputCount = 2...Int.max

  /// Negative values count from the end of the output.
  package var axis = 0

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count + 1)
    try require(
      inputs.allSatisfy({ $0 == shape }), "the inputs' shapes differ: \(inputs)", field: "input")
    shape.insert(inputs.count, at: axis)
    return [try ArrayShape.checked(shape)]
  }
}

/// Parts of the input along an axis: `numSplits` parts of sizes as equal as possible, the larger
/// ones first, or parts of the sizes in `splitSizes`.
package struct SplitND: ArrayLayer {
  package static let outputCount = 2...Int.max

  /// Negative values count from the end.
  package var axis = 0
  package var numSplits = 0
  package var splitSizes: [Int] = []

  package init() {}

  package static let fields: Fields = [
    .int("axis", \.axis),
    .int("numSplits", \.numSplits),
    .ints("splitSizes", \.splitSizes),
  ]

  /// The length of each part along an axis of `length` elements.
  package func sizes(of length: Int) throws -> [Int] {
    if splitSizes.isEmpty {
      try require(
        numSplits > 0 && numSplits <= Limits.layers && numSplits <= length,
        "\(length) cannot be split into \(numSplits) parts", field: "numSplits")
      return (0..<numSplits).map { length / numSplits + ($0 < length % numSplits ? 1 : 0) }
    }
    try require(
      splitSizes.allSatisfy({ $0 > 0 }) && checkedSum(splitSizes) == length,
      "\(splitSizes) do not add up to \(length)", field: "splitSizes")
    return splitSizes
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return try sizes(of: shape[axis]).map { size in
      var part = shape
      part[axis] = size
      return try ArrayShape.checked(part)
    }
  }
}
