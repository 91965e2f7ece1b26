import TensorCore

/// The elements of the first input along an axis, at the indices in the second.
package struct Gather: ArrayLayer {
  package static let inputCount = 2...2

  /// Negative values count from the end.
  package var axis = 0

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    shape.replaceSubrange(axis...axis, with: inputs[1])
    return [try ArrayShape.checked(shape)]
  }
}

/// Slices of the first input at the indices in the last axis of the second.
package struct GatherND: ArrayLayer, ParameterlessLayer {
  package static let inputCount = 2...2

  package init() {}

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let positions = inputs[1]
    guard let depth = positions.last, depth > 0, depth <= shape.count else {
      throw ModelError(
        .malformed, "indices of shape \(positions) do not match an input of shape \(shape)",
        field: "input")
    }
    let result = positions.dropLast() + shape.dropFirst(depth)
    return [try ArrayShape.checked(result.isEmpty ? [1] : Array(result))]
  }
}

/// out[…, i, …] = a[…, k, …], where k = b[…, i, …].
package struct GatherAlongAxis: ArrayLayer {
  package static let inputCount = 2...2

  /// Negative values count from the end.
  package var axis = 0

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    try require(
      inputs[1].count == shape.count
        && (shape.indices.allSatisfy({ $0 == axis || shape[$0] == inputs[1][$0] })),
      "shapes \(inputs) differ in axes other than \(axis)", field: "input")
    return [try ArrayShape.checked(inputs[1])]
  }
}

/// out[…, o] = weights[o, in[…]] + bias[o]; removes the input's last axis, which has length 1.
package struct EmbeddingND: ArrayLayer {
  package static let minimumRank = 2

  package var vocabSize = 0
  package var embeddingSize = 0
  package var hasBias = false
  /// `[embeddingSize, vocabSize]`
  package var matrix: Weights?
  package var bias: Weights?

  package init() {}

  package static let fields: Fields = [
    .int("vocabSize", \.vocabSize),
    .int("embeddingSize", \.embeddingSize),
    .bool("hasBias", \.hasBias),
    .weights("weights", \.matrix) { [$0.embeddingSize, $0.vocabSize] },
    .weights("bias", \.bias, isNeeded: \.hasBias) { [$0.embeddingSize] },
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      shape.last == 1, "the input has the shape \(shape); its last axis must have length 1",
      field: "input")
    return [try ArrayShape.checked(shape.dropLast() + [embeddingSize])]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(vocabSize > 0, "vocabSize", "0")
    faults.require(embeddingSize > 0, "embeddingSize", "0")
  }
}

/// `onValue` along a new axis at the index in the input, `offValue` elsewhere.
package struct OneHot: ArrayLayer, DynamicLayer {
  package static let specificationVersion = 5
  package static let inputCount = 1...2

  package var oneHotVectorSize = 0
  /// The axis of the output; negative values count from the end.
  package var axis = 0
  package var onValue: Float = 0
  package var offValue: Float = 0

  package init() {}

  package static let fields: Fields = [
    .int("oneHotVectorSize", \.oneHotVectorSize),
    .int("axis", \.axis),
    .float("onValue", \.onValue),
    .float("offValue", \.offValue),
  ]

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    with(\.oneHotVectorSize, try values[0].wholes("input").first ?? 0)
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count + 1)
    shape.insert(oneHotVectorSize, at: axis)
    return [try ArrayShape.checked(shape)]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(oneHotVectorSize >= 0, "oneHotVectorSize", "\(oneHotVectorSize)")
  }
}
