import TensorCore

/// The index of the largest or smallest element along an axis; the first one in case of ties.
package protocol ExtremumLayer: ArrayLayer {
  /// Negative values count from the end.
  var axis: Int { get set }
  /// Whether the axis is removed; otherwise it is kept with length 1.
  var removeDim: Bool { get set }
}

extension ExtremumLayer {
  package static var fields: [Field<Self>] {
    [.int("axis", \.axis), .bool("removeDim", \.removeDim)]
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    shape[axis] = 1
    if removeDim, shape.count > 1 { shape.remove(at: axis) }
    return [try ArrayShape.checked(shape)]
  }
}

/// The index of the largest element along an axis.
package struct ArgMax: ExtremumLayer {
  package var axis = 0
  package var removeDim = false

  package init() {}
}

/// The index of the smallest element along an axis.
package struct ArgMin: ExtremumLayer {
  package var axis = 0
  package var removeDim = false

  package init() {}
}

/// The K largest (or smallest) elements along an axis in descending (ascending) order, and their
/// indices. A second input holds K instead.
package struct TopK: ArrayLayer, DynamicLayer {
  package static let inputCount = 1...2
  package static let outputCount = 2...2

  /// Negative values count from the end.
  package var axis = 0
  /// K
  package var count = 0
  package var useBottomK = false

  package init() {}

  package static let fields: Fields = [
    .int("axis", \.axis),
    .int("K", \.count),
    .bool("useBottomK", \.useBottomK),
  ]

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    with(\.count, try values[0].wholes("input").first ?? 0)
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    try require(
      count > 0 && count <= shape[axis], "\(count) of \(shape[axis]) elements", field: "K")
    shape[axis] = count
    shape = try ArrayShape.checked(shape)
    return [shape, shape]
  }
}

/// The indices that sort the elements along an axis in ascending or descending order.
package struct ArgSort: ArrayLayer {
  package static let specificationVersion = 5

  package var axis = 0
  package var descending = false

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis), .bool("descending", \.descending)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}

/// The cumulative sums of the elements along an axis.
package struct CumSum: ArrayLayer {
  package static let specificationVersion = 5

  /// Negative values count from the end.
  package var axis = 0
  /// Whether each sum excludes the element itself.
  package var excludeFinalSum = false
  /// Whether the sums start at the end.
  package var reverse = false

  package init() {}

  package static let fields: Fields = [
    .int("axis", \.axis),
    .bool("excludeFinalSum", \.excludeFinalSum),
    .bool("reverse", \.reverse),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}
