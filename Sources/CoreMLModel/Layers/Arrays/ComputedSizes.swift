import TensorCore

/// start, start + step, start + 2 · step, … below the end. The inputs are the end, the start and
/// the step; fields replace missing ones.
package struct RangeDynamic: ValueShapedLayer {
  package static let inputCount = 1...3

  package var startValue: Float = 0
  package var stepSizeValue: Float = 0

  package init() {}

  package static let fields: Fields = [
    .float("startValue", \.startValue), .float("stepSizeValue", \.stepSizeValue),
  ]

  package func decidingInputs(_ count: Int) -> [Int] { Array(0..<count) }

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    var layer = RangeStatic()
    layer.endValue = values.first?.first ?? 0
    layer.startValue = values.count > 1 ? values[1].first ?? 0 : startValue
    layer.stepSizeValue = values.count > 2 ? values[2].first ?? 0 : stepSizeValue
    return layer
  }
}

/// A layer whose last input holds the output shape.
package protocol ShapedByInputLayer: ValueShapedLayer {
  associatedtype Fixed: LayerParameters
  /// The layer with this fixed shape.
  func fixed(_ shape: [Int]) -> Fixed
}

extension ShapedByInputLayer {
  package func decidingInputs(_ count: Int) -> [Int] { [Self.inputCount.upperBound - 1] }

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    fixed(try values[0].wholes("input"))
  }
}

/// A constant array of the shape that the input holds.
package struct FillDynamic: ShapedByInputLayer {
  package var value: Float = 0

  package init() {}

  package static let fields: Fields = [.float("value", \.value)]

  package func fixed(_ shape: [Int]) -> FillStatic {
    FillStatic().with(\.value, value).with(\.targetShape, shape)
  }
}

/// The first input, broadcast to the shape that the second input holds.
package struct BroadcastToDynamic: ShapedByInputLayer, ParameterlessLayer {
  package static let inputCount = 2...2

  package init() {}

  package func fixed(_ shape: [Int]) -> BroadcastToStatic {
    BroadcastToStatic().with(\.targetShape, shape)
  }
}

/// The first input, reshaped to the shape that the second input holds; one size may be −1.
package struct ReshapeDynamic: ShapedByInputLayer, ParameterlessLayer {
  package static let inputCount = 2...2

  package init() {}

  package func fixed(_ shape: [Int]) -> ReshapeStatic {
    ReshapeStatic().with(\.targetShape, shape)
  }
}

/// A slice of the first input along each axis, as in NumPy. The other inputs are the begin and end
/// indices, the strides, and the masks of `SliceStatic`; fields replace missing ones and may have
/// more entries than the input has axes.
package struct SliceDynamic: ValueShapedLayer {
  package static let inputCount = 2...7

  package var beginMasks: [Bool] = []
  package var endIds: [Int] = []
  package var endMasks: [Bool] = []
  package var strides: [Int] = []
  package var squeezeMasks: [Bool] = []

  package init() {}

  package static let fields: Fields = [
    .bools("beginMasks", \.beginMasks),
    .ints("endIds", \.endIds),
    .bools("endMasks", \.endMasks),
    .ints("strides", \.strides),
    .bools("squeezeMasks", \.squeezeMasks),
  ]

  package var requiredSpecificationVersion: Int { squeezeMasks.contains(true) ? 5 : 4 }

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    let rank = inputs.first?.count ?? 0
    func list<Element>(
      _ given: [Element]?, _ own: [Element], default value: Element, _ field: String
    ) throws -> [Element] {
      let list = given ?? own
      try require(
        list.isEmpty || list.count >= rank, "\(list.count) values for an input of rank \(rank)",
        field: field)
      return list.isEmpty ? [Element](repeating: value, count: rank) : Array(list.prefix(rank))
    }
    func numbers(_ index: Int, _ field: String) throws -> [Int]? {
      index < values.count ? try values[index].wholes(field) : nil
    }
    func flags(_ index: Int) -> [Bool]? { index < values.count ? values[index].flags() : nil }
    var layer = SliceStatic()
    layer.beginIds = try list(numbers(0, "beginIds"), [], default: 0, "beginIds")
    layer.endIds = try list(numbers(1, "endIds"), endIds, default: 1, "endIds")
    layer.strides = try list(numbers(2, "strides"), strides, default: 1, "strides")
    layer.beginMasks = try list(flags(3), beginMasks, default: false, "beginMasks")
    layer.endMasks = try list(flags(4), endMasks, default: false, "endMasks")
    layer.squeezeMasks = try list(flags(5), squeezeMasks, default: false, "squeezeMasks")
    return layer
  }
}

/// So many elements of the first input along an axis, from the position that the second one holds.
package struct SliceBySize: ArrayLayer {
  package static let specificationVersion = 5
  package static let inputCount = 2...2

  package var size = 0
  /// Negative values count from the end.
  package var axis = 0

  package init() {}

  package static let fields: Fields = [.int("size", \.size), .int("axis", \.axis)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    try require(
      size > 0 && size <= shape[axis], "\(size) of \(shape[axis]) elements", field: "size")
    shape[axis] = size
    return [try ArrayShape.checked(shape)]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(size > 0, "size", "\(size)")
  }
}

/// The indices of the nonzero elements, one per row, in row-major order.
package struct WhereNonZero: ValueShapedLayer, ParameterlessLayer {
  /// The number of nonzero elements, if known.
  package var count: Int?

  package init() {}

  package func decidingInputs(_ count: Int) -> [Int] { [0] }
  package func keptInputs(_ count: Int) -> [Int] { [0] }

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    with(\.count, values[0].count { $0 != 0 })
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    guard let count else {
      throw ModelError(
        .unsupported, "the sizes of the output depend on values of an input", field: "input")
    }
    return [try ArrayShape.checked([count, try arrayInput(inputs).count])]
  }
}
