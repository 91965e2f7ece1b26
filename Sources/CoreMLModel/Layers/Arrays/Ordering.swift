import TensorCore

/// The place of the largest element along an axis, the first one of equals.
package struct ArgMax: LayerParameters {
  package static let typeName = "argMax"
  package static let specificationVersion = 4

  /// May count from the end.
  package var axis = 0
  /// Whether the axis goes; otherwise it stays with length 1.
  package var removeDim = false
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The place of the smallest element along an axis, the first one of equals.
package struct ArgMin: LayerParameters {
  package static let typeName = "argMin"
  package static let specificationVersion = 4

  /// May count from the end.
  package var axis = 0
  /// Whether the axis goes; otherwise it stays with length 1.
  package var removeDim = false
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The K largest (or smallest) elements along an axis in descending (ascending) order, and their
/// places.
package struct TopK: LayerParameters {
  package static let typeName = "topK"
  package static let specificationVersion = 4
  package static let outputCount = 1...2

  /// May count from the end.
  package var axis = 0
  /// K
  package var count = 0
  package var useBottomK = false
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The places of the elements along an axis, in ascending or descending order of the elements.
package struct ArgSort: LayerParameters {
  package static let typeName = "argSort"
  package static let specificationVersion = 5

  package var axis = 0
  package var descending = false
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The sums of the elements up to each along an axis.
package struct CumSum: LayerParameters {
  package static let typeName = "cumSum"
  package static let specificationVersion = 5

  /// May count from the end.
  package var axis = 0
  /// Whether an element's own value is left out.
  package var excludeFinalSum = false
  /// Whether the sums run from the end.
  package var reverse = false
  package var unknownFields = UnknownFields()

  package init() {}
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
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try extremum(inputs, axis, removeDim)
  }
}

extension ArgMin {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try extremum(inputs, axis, removeDim)
  }
}

extension TopK {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
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
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}

extension CumSum {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}
