import TensorCore

/// Elements of the first input along an axis, at the places that the second one holds.
public struct Gather: LayerParameters {
  public static let typeName = "gather"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  /// May count from the end.
  public var axis = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Parts of the first input at the places that the last axis of the second one holds.
public struct GatherND: ParameterlessLayer {
  public static let typeName = "gatherND"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// Element (…, k, …) of the first input for each k = second input (…, i, …).
public struct GatherAlongAxis: LayerParameters {
  public static let typeName = "gatherAlongAxis"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  /// May count from the end.
  public var axis = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// out[…, o] = weights[o, in[…]] + bias[o]; the input's last axis has the length 1 and goes.
public struct EmbeddingND: LayerParameters {
  public static let typeName = "embeddingND"
  public static let specificationVersion = 4
  public static let minimumRank = 2

  public var vocabSize = 0
  public var embeddingSize = 0
  public var hasBias = false
  /// `[embeddingSize, vocabSize]`
  public var matrix: Weights?
  public var bias: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// `onValue` at the place that the input holds along a new axis, elsewhere `offValue`.
public struct OneHot: LayerParameters {
  public static let typeName = "oneHot"
  public static let specificationVersion = 5

  public var oneHotVectorSize = 0
  /// Of the output; may count from the end.
  public var axis = 0
  public var onValue: Float = 0
  public var offValue: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Gather: EncodedMessage {
  static let fields: [Field<Self>] = [.int("axis", \.axis)]
}

extension GatherAlongAxis: EncodedMessage {
  static let fields: [Field<Self>] = [.int("axis", \.axis)]
}

extension EmbeddingND: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("vocabSize", \.vocabSize),
    .int("embeddingSize", \.embeddingSize),
    .bool("hasBias", \.hasBias),
    .message("weights", \.matrix),
    .message("bias", \.bias),
  ]
}

extension OneHot: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("oneHotVectorSize", \.oneHotVectorSize),
    .int("axis", \.axis),
    .float("onValue", \.onValue),
    .float("offValue", \.offValue),
  ]
}

extension Gather {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    shape.replaceSubrange(axis...axis, with: inputs[1])
    return [try ArrayShape.checked(shape)]
  }
}

extension GatherND {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let places = inputs[1]
    guard let depth = places.last, depth > 0, depth <= shape.count else {
      throw ModelError(
        .malformed, "places of shape \(places) in an input of shape \(shape)", field: "input")
    }
    let result = places.dropLast() + shape.dropFirst(depth)
    return [try ArrayShape.checked(result.isEmpty ? [1] : Array(result))]
  }
}

extension GatherAlongAxis {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    guard inputs[1].count == shape.count,
      shape.indices.allSatisfy({ $0 == axis || shape[$0] == inputs[1][$0] })
    else {
      throw ModelError(
        .malformed, "shapes \(inputs) differ in more than the axis \(axis)", field: "input")
    }
    return [try ArrayShape.checked(inputs[1])]
  }
}

extension EmbeddingND {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    guard shape.last == 1 else {
      throw ModelError(
        .malformed, "an input of shape \(shape), a last axis of length 1 is needed", field: "input")
    }
    return [try ArrayShape.checked(shape.dropLast() + [embeddingSize])]
  }

  public var weights: [NamedWeights] {
    named(("weights", matrix), ("bias", bias)) {
      $0 == "bias" ? [embeddingSize] : [embeddingSize, vocabSize]
    }
  }
}

extension OneHot {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count + 1)
    shape.insert(oneHotVectorSize, at: axis)
    return [try ArrayShape.checked(shape)]
  }
}

extension EmbeddingND: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(vocabSize > 0, "vocabSize", "0")
    faults.require(embeddingSize > 0, "embeddingSize", "0")
    faults.requireWeights(("weights", matrix), ("bias", bias, hasBias))
  }
}

extension OneHot: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(oneHotVectorSize > 0, "oneHotVectorSize", "\(oneHotVectorSize)")
  }
}
