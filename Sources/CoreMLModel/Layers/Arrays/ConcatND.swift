import TensorCore

/// The inputs one after the other along an axis.
package struct ConcatND: LayerParameters {
  package static let typeName = "concatND"
  package static let specificationVersion = 4
  package static let inputCount = 1...Int.max

  /// May count from the end.
  package var axis = 0
  /// Whether the inputs, all of one shape, take turns along the axis.
  package var interleave = false
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The inputs, all of one shape, along a new axis.
package struct Stack: LayerParameters {
  package static let typeName = "stack"
  package static let specificationVersion = 4
  package static let inputCount = 1...Int.max

  /// May count from the end of the output.
  package var axis = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// Parts of the input along an axis: `numSplits` equal ones, or of the sizes in `splitSizes`.
package struct SplitND: LayerParameters {
  package static let typeName = "splitND"
  package static let specificationVersion = 4
  package static let outputCount = 1...Int.max

  /// May count from the end.
  package var axis = 0
  package var numSplits = 0
  package var splitSizes: [Int] = []
  package var unknownFields = UnknownFields()

  package init() {}
}

extension ConcatND: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("axis", \.axis),
    .bool("interleave", \.interleave),
  ]
}

extension Stack: EncodedMessage {
  static let fields: [Field<Self>] = [.int("axis", \.axis)]
}

extension SplitND: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("axis", \.axis),
    .int("numSplits", \.numSplits),
    .ints("splitSizes", \.splitSizes),
  ]
}

extension ConcatND {
  package var requiredSpecificationVersion: Int { interleave ? 5 : 4 }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var result = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: result.count)
    for shape in inputs.dropFirst() {
      let fits =
        shape.count == result.count
        && shape.indices.allSatisfy { $0 == axis || shape[$0] == result[$0] }
        && (!interleave || shape == inputs[0])
      guard fits else {
        throw ModelError(
          .malformed, "shapes \(inputs) differ in more than the axis \(axis)", field: "input")
      }
      result[axis] = try checkedSum([result[axis], shape[axis]], limit: Limits.dimension)
    }
    return [try ArrayShape.checked(result)]
  }
}

extension Stack {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count + 1)
    guard inputs.allSatisfy({ $0 == shape }) else {
      throw ModelError(.malformed, "the inputs' shapes differ: \(inputs)", field: "input")
    }
    shape.insert(inputs.count, at: axis)
    return [try ArrayShape.checked(shape)]
  }
}

extension SplitND {
  /// The length of each part along the axis, of which the input has `length`.
  package func sizes(of length: Int) throws -> [Int] {
    if splitSizes.isEmpty {
      guard numSplits > 0, numSplits <= Limits.layers, length % numSplits == 0 else {
        throw ModelError(
          .malformed, "\(length) cannot be split into \(numSplits) equal parts", field: "numSplits")
      }
      return [Int](repeating: length / numSplits, count: numSplits)
    }
    guard splitSizes.allSatisfy({ $0 > 0 }), try checkedSum(splitSizes) == length else {
      throw ModelError(
        .malformed, "\(splitSizes) are no parts of \(length)", field: "splitSizes")
    }
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
