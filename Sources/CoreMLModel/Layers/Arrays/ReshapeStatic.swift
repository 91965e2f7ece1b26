import TensorCore

/// The same elements under another shape; one size may be −1.
public struct ReshapeStatic: LayerParameters {
  public static let typeName = "reshapeStatic"
  public static let specificationVersion = 4

  public var targetShape: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The same elements under another shape of the same rank: 0 keeps a size, one may be −1.
public struct RankPreservingReshape: LayerParameters {
  public static let typeName = "rankPreservingReshape"
  public static let specificationVersion = 4

  public var targetShape: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The first input's elements under the second one's shape.
public struct ReshapeLike: ParameterlessLayer {
  public static let typeName = "reshapeLike"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// To two axes: those before `axis`, and the others.
public struct FlattenTo2D: LayerParameters {
  public static let typeName = "flattenTo2D"
  public static let specificationVersion = 4

  /// May count from the end.
  public var axis = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// New axes of length 1, at these places of the output.
public struct ExpandDims: LayerParameters {
  public static let typeName = "expandDims"
  public static let specificationVersion = 4

  /// May count from the end of the output.
  public var axes: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Without these axes of length 1, or without all of them; a last one stays.
public struct Squeeze: LayerParameters {
  public static let typeName = "squeeze"
  public static let specificationVersion = 4

  /// May count from the end.
  public var axes: [Int] = []
  public var squeezeAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension ReshapeStatic: EncodedMessage {
  static let fields: [Field<Self>] = [.ints("targetShape", \.targetShape)]
}

extension RankPreservingReshape: EncodedMessage {
  static let fields: [Field<Self>] = [.ints("targetShape", \.targetShape)]
}

extension FlattenTo2D: EncodedMessage {
  static let fields: [Field<Self>] = [.int("axis", \.axis)]
}

extension ExpandDims: EncodedMessage {
  static let fields: [Field<Self>] = [.ints("axes", \.axes)]
}

extension Squeeze: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("axes", \.axes),
    .bool("squeezeAll", \.squeezeAll),
  ]
}

extension ArrayShape {
  /// `target` with its −1 filled in for the elements of `shape`.
  static func reshaped(_ shape: [Int], to target: [Int], _ field: String) throws -> [Int] {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let open = target.indices.filter { target[$0] == -1 }
    guard open.count <= 1, target.allSatisfy({ $0 == -1 || $0 > 0 }) else {
      throw ModelError(
        .malformed, "\(target), positive sizes and at most one −1 are needed", field: field)
    }
    var result = target
    let known = try checkedProduct(target.filter { $0 != -1 }, limit: Limits.tensorElements)
    if let axis = open.first { result[axis] = count / known }
    guard try checkedProduct(result, limit: Limits.tensorElements) == count else {
      throw ModelError(
        .malformed, "\(target) does not hold the \(count) elements of \(shape)", field: field)
    }
    return try checked(result, field)
  }
}

extension ReshapeStatic {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [try ArrayShape.reshaped(try arrayInput(inputs), to: targetShape, "targetShape")]
  }
}

extension RankPreservingReshape {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    guard targetShape.count == shape.count else {
      throw ModelError(
        .malformed, "\(targetShape) for an input of rank \(shape.count)", field: "targetShape")
    }
    let target = zip(targetShape, shape).map { $0 == 0 ? $1 : $0 }
    return [try ArrayShape.reshaped(shape, to: target, "targetShape")]
  }
}

extension ReshapeLike {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    return [try ArrayShape.reshaped(shape, to: inputs[1], "input")]
  }
}

extension FlattenTo2D {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    // The place behind the last axis is possible, too.
    let place =
      axis == shape.count ? axis : try ArrayShape.axis(axis, rank: shape.count)
    return [
      try ArrayShape.checked([
        try checkedProduct(shape[..<place]), try checkedProduct(shape[place...]),
      ])
    ]
  }
}

extension ExpandDims {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let rank = shape.count + axes.count
    guard rank <= Limits.rank else {
      throw ModelError(
        .malformed, "a result of rank \(rank), \(Limits.rank) is the most", field: "axes")
    }
    let places = try ArrayShape.axes(axes, rank: rank)
    var sizes = shape.makeIterator()
    return [
      try ArrayShape.checked((0..<rank).map { places.contains($0) ? 1 : sizes.next() ?? 1 })
    ]
  }
}

extension Squeeze {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let dropped =
      squeezeAll
      ? shape.indices.filter { shape[$0] == 1 } : try ArrayShape.axes(axes, rank: shape.count)
    guard dropped.allSatisfy({ shape[$0] == 1 }) else {
      throw ModelError(
        .malformed, "the axes \(axes) of \(shape) are not all of length 1", field: "axes")
    }
    let kept = shape.indices.filter { !dropped.contains($0) }.map { shape[$0] }
    return [try ArrayShape.checked(kept.isEmpty ? [1] : kept)]
  }
}
