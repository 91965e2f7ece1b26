import TensorCore

/// The elements `start`, `start + step`, … along an axis.
package struct AxisRange: Sendable, Equatable {
  package var start: Int
  package var step: Int
  package var count: Int

  package init(start: Int, step: Int, count: Int) {
    (self.start, self.step, self.count) = (start, step, count)
  }

  /// The elements of NumPy's slice `[begin:end:stride]` along an axis, which may be empty.
  package init(begin: Int?, end: Int?, stride: Int, length: Int) throws {
    try require(stride != 0 && stride != .min, "a stride of \(stride)", field: "strides")
    func bounded(_ position: Int) -> Int {
      let (sum, overflow) = position.addingReportingOverflow(length)
      let counted = position >= 0 ? position : overflow ? -1 : sum
      return stride > 0 ? min(max(counted, 0), length) : min(max(counted, -1), length - 1)
    }
    let first = begin.map(bounded) ?? (stride > 0 ? 0 : length - 1)
    let last = end.map(bounded) ?? (stride > 0 ? length : -1)
    let distance = stride > 0 ? last - first : first - last
    start = first
    step = stride
    count = distance > 0 ? (distance - 1) / abs(stride) + 1 : 0
  }
}

/// A slice of the input along each axis, as in NumPy.
package struct SliceStatic: ArrayLayer {
  /// Negative values count from the end.
  package var beginIds: [Int] = []
  /// Where true, the slice begins at the start of the axis (at its end for a negative stride).
  package var beginMasks: [Bool] = []
  /// The first index after the slice; negative values count from the end.
  package var endIds: [Int] = []
  /// Where true, the slice extends to the end of the axis.
  package var endMasks: [Bool] = []
  /// May be negative.
  package var strides: [Int] = []
  /// Where true, one element is taken and the axis is removed.
  package var squeezeMasks: [Bool] = []

  package init() {}

  package static let fields: Fields = [
    .ints("beginIds", \.beginIds),
    .bools("beginMasks", \.beginMasks),
    .ints("endIds", \.endIds),
    .bools("endMasks", \.endMasks),
    .ints("strides", \.strides),
    .bools("squeezeMasks", \.squeezeMasks),
  ]

  package var requiredSpecificationVersion: Int { squeezeMasks.contains(true) ? 5 : 4 }

  /// The range of each axis of `shape`.
  ///
  /// - Throws: `ModelError` if one is empty, or the fields do not fit the shape.
  package func ranges(_ shape: [Int]) throws -> [AxisRange] {
    let ranges = try bounds(shape)
    for (axis, range) in ranges.enumerated() where range.count == 0 {
      throw ModelError(
        .malformed, "the slice of axis \(axis) from \(range.start) by \(range.step) is empty",
        field: "endIds")
    }
    return ranges
  }

  /// The lengths of the output's axes, which may be 0.
  package func lengths(_ shape: [Int]) throws -> [Int] {
    let ranges = try bounds(shape)
    return ranges.indices.filter { squeezeMasks.isEmpty || !squeezeMasks[$0] }
      .map { ranges[$0].count }
  }

  /// The range of each axis, which may be empty.
  private func bounds(_ shape: [Int]) throws -> [AxisRange] {
    let rank = shape.count
    let lists = [
      ("beginIds", beginIds.count), ("endIds", endIds.count), ("strides", strides.count),
      ("beginMasks", beginMasks.count), ("endMasks", endMasks.count),
    ]
    for (field, count) in lists where count != rank {
      throw ModelError(.malformed, "\(count) values for an input of rank \(rank)", field: field)
    }
    try require(
      squeezeMasks.isEmpty || squeezeMasks.count == rank,
      "\(squeezeMasks.count) values for an input of rank \(rank)", field: "squeezeMasks")
    return try shape.indices.map { axis in
      if squeezeMasks.count == rank, squeezeMasks[axis] {
        let start = beginMasks[axis] ? 0 : beginIds[axis]
        return AxisRange(
          start: try ArrayShape.axis(start, rank: shape[axis], "beginIds"), step: 1, count: 1)
      }
      return try AxisRange(
        begin: beginMasks[axis] ? nil : beginIds[axis], end: endMasks[axis] ? nil : endIds[axis],
        stride: strides[axis], length: shape[axis])
    }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let ranges = try ranges(try arrayInput(inputs))
    let kept = ranges.indices.filter { squeezeMasks.isEmpty || !squeezeMasks[$0] }
    return [try checkedShape(kept.map { ranges[$0].count })]
  }
}

/// Reverses the input along the flagged axes.
package struct Reverse: ArrayLayer {
  /// One flag per axis.
  package var reverseDim: [Bool] = []

  package init() {}

  package static let fields: Fields = [.bools("reverseDim", \.reverseDim)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    try require(
      reverseDim.count == shape.count,
      "\(reverseDim.count) values for an input of rank \(shape.count)", field: "reverseDim")
    return [shape]
  }
}

/// Overlapping windows along an axis, as two axes: the windows and their elements.
package struct SlidingWindows: ArrayLayer {
  /// Negative values count from the end.
  package var axis = 0
  package var windowSize = 0
  package var step = 0

  package init() {}

  package static let fields: Fields = [
    .int("axis", \.axis),
    .int("windowSize", \.windowSize),
    .int("step", \.step),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try arrayInput(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    try require(
      windowSize > 0 && windowSize <= shape[axis] && step > 0,
      "windows of \(windowSize) every \(step) along an axis of \(shape[axis])", field: "windowSize")
    let count = (shape[axis] - windowSize) / step + 1
    shape[axis] = windowSize
    shape.insert(count, at: axis)
    return [try ArrayShape.checked(shape)]
  }
}
