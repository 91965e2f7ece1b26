import TensorCore

/// The place of the largest element along an axis, the first one of equals.
public struct ArgMax: LayerParameters {
  public static let typeName = "argMax"
  public static let specificationVersion = 4

  /// May count from the end.
  public var axis = 0
  /// Whether the axis goes; otherwise it stays with length 1.
  public var removeDim = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The place of the smallest element along an axis, the first one of equals.
public struct ArgMin: LayerParameters {
  public static let typeName = "argMin"
  public static let specificationVersion = 4

  /// May count from the end.
  public var axis = 0
  /// Whether the axis goes; otherwise it stays with length 1.
  public var removeDim = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The K largest (or smallest) elements along an axis in descending (ascending) order, and their
/// places.
public struct TopK: LayerParameters {
  public static let typeName = "topK"
  public static let specificationVersion = 4
  public static let outputCount = 1...2

  /// May count from the end.
  public var axis = 0
  /// K
  public var count = 0
  public var useBottomK = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The places of the elements along an axis, in ascending or descending order of the elements.
public struct ArgSort: LayerParameters {
  public static let typeName = "argSort"
  public static let specificationVersion = 5

  public var axis = 0
  public var descending = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The sums of the elements up to each along an axis.
public struct CumSum: LayerParameters {
  public static let typeName = "cumSum"
  public static let specificationVersion = 5

  /// May count from the end.
  public var axis = 0
  /// Whether an element's own value is left out.
  public var excludeFinalSum = false
  /// Whether the sums run from the end.
  public var reverse = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension ArgMax: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("axis", \.axis),
    .bool("removeDim", \.removeDim),
  ]
}

extension ArgMin: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("axis", \.axis),
    .bool("removeDim", \.removeDim),
  ]
}

extension TopK: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("axis", \.axis),
    .int("K", \.count),
    .bool("useBottomK", \.useBottomK),
  ]
}

extension ArgSort: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("axis", \.axis),
    .bool("descending", \.descending),
  ]
}

extension CumSum: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("axis", \.axis),
    .bool("excludeFinalSum", \.excludeFinalSum),
    .bool("reverse", \.reverse),
  ]
}

extension LayerParameters {
  fileprivate func extremum(_ inputs: [[Int]], _ axis: Int, _ removes: Bool) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    shape[axis] = 1
    if removes, shape.count > 1 { shape.remove(at: axis) }
    return [try ArrayShape.checked(shape)]
  }

  fileprivate func sameShape(_ inputs: [[Int]], _ axis: Int) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    _ = try ArrayShape.axis(axis, rank: shape.count)
    return [shape]
  }
}

extension ArgMax {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try extremum(inputs, axis, removeDim)
  }
}

extension ArgMin {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try extremum(inputs, axis, removeDim)
  }
}

extension TopK {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    guard count > 0, count <= shape[axis] else {
      throw ModelError(.malformed, "\(count) of \(shape[axis]) elements", field: "K")
    }
    shape[axis] = count
    shape = try ArrayShape.checked(shape)
    return [shape, shape]
  }
}

extension ArgSort {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}

extension CumSum {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}
