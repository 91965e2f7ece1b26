import TensorCore

/// The place of the largest or smallest element along an axis, the first one of equals.
package protocol ExtremumLayer: ArrayLayer {
  /// May count from the end.
  var axis: Int { get set }
  /// Whether the axis goes; otherwise it stays with length 1.
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

/// The place of the largest element along an axis.
package struct ArgMax: ExtremumLayer {
  package var axis = 0
  package var removeDim = false

  package init() {}
}

/// The place of the smallest element along an axis.
package struct ArgMin: ExtremumLayer {
  package var axis = 0
  package var removeDim = false

  package init() {}
}

/// The K largest (or smallest) elements along an axis in descending (ascending) order, and their
/// places. A second input holds K instead.
package struct TopK: ArrayLayer, DynamicLayer {
  package static let inputCount = 1...2
  package static let outputCount = 2...2

  /// May count from the end.
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

  package func decidingInputs(_ count: Int) -> [Int] { Array(1..<max(1, count)) }

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    var layer = self
    layer.count = try values[0].wholes("input").first ?? 0
    return layer
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

/// The places of the elements along an axis, in ascending or descending order of the elements.
package struct ArgSort: ArrayLayer {
  package static let specificationVersion = 5

  package var axis = 0
  package var descending = false

  package init() {}

  package static let fields: Fields = [.int("axis", \.axis), .bool("descending", \.descending)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}

/// The sums of the elements up to each along an axis.
package struct CumSum: ArrayLayer {
  package static let specificationVersion = 5

  /// May count from the end.
  package var axis = 0
  /// Whether an element's own value is left out.
  package var excludeFinalSum = false
  /// Whether the sums run from the end.
  package var reverse = false

  package init() {}

  package static let fields: Fields = [
    .int("axis", \.axis),
    .bool("excludeFinalSum", \.excludeFinalSum),
    .bool("reverse", \.reverse),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try sameShape(inputs, axis) }
}
