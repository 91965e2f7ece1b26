import TensorCore

/// A dense array of `Double`, row-major, with any number of axes.
package struct DoubleArray: Sendable {
  /// Sizes of the axes, outermost first; empty for a scalar.
  package private(set) var shape: [Int]
  package var values: [Double]

  package var count: Int { values.count }
  package var rank: Int { shape.count }

  /// Precondition: the number of values is the product of `shape`.
  package init(shape: [Int], _ values: [Double]) {
    precondition(shape.reduce(1, *) == values.count)
    self.shape = shape
    self.values = values
  }

  /// An array of equal elements; throws if it exceeds the element limit or the memory limit.
  package init(shape: [Int], repeating value: Double = 0) throws {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    try MemoryBudget.require(count * MemoryLayout<Double>.stride)
    self.shape = shape
    values = [Double](repeating: value, count: count)
  }

  /// The elements in double precision.
  package init(_ tensor: Tensor) {
    shape = tensor.shape
    values = tensor.withUnsafeElements { $0.map(Double.init) }
  }

  /// The distance between neighbors along each axis.
  package var strides: [Int] { Tensor.strides(shape) }

  /// The product of the sizes of some axes.
  package func count(_ axes: Range<Int>) -> Int { shape[axes].reduce(1, *) }

  /// The sizes before, along and after an axis, as products: the array is `[outer, size, inner]`.
  package func split(at axis: Int) -> (outer: Int, size: Int, inner: Int) {
    (count(0..<axis), shape[axis], count(axis + 1..<rank))
  }

  /// The nonnegative index of an axis; negative indices count from the end, starting with −1. Nil
  /// if the axis does not exist.
  package func axis(_ index: Int) -> Int? {
    guard index >= -rank, index < rank else { return nil }
    return index < 0 ? index + rank : index
  }

  /// The same values with another shape; throws `.mismatch` if the counts differ.
  package func reshaped(_ newShape: [Int]) throws -> DoubleArray {
    try require(
      checkedProduct(newShape) == count, .mismatch, "\(shape) cannot be reshaped to \(newShape)")
    return DoubleArray(shape: newShape, values)
  }

  /// Permutes the axes: axis i of the result is axis `order[i]` of this array.
  ///
  /// Precondition: `order` is a permutation of the axes.
  package func transposed(_ order: [Int]) -> DoubleArray {
    if order == Array(shape.indices) { return self }
    let newShape = order.map { shape[$0] }
    let steps = order.map { strides[$0] }
    var result = [Double]()
    result.reserveCapacity(count)
    guard count > 0, let innermost = steps.last, let length = newShape.last else { return self }
    var index = [Int](repeating: 0, count: rank)
    var start = 0
    while result.count < count {
      for step in 0..<length { result.append(values[start + step * innermost]) }
      var axis = rank - 2
      while axis >= 0 {
        index[axis] += 1
        start += steps[axis]
        if index[axis] < newShape[axis] { break }
        start -= steps[axis] * newShape[axis]
        index[axis] = 0
        axis -= 1
      }
    }
    return DoubleArray(shape: newShape, result)
  }

  package func map(_ function: (Double) throws -> Double) rethrows -> DoubleArray {
    DoubleArray(shape: shape, try values.map(function))
  }

  /// The elements in `range` along one axis.
  ///
  /// Precondition: the range lies within the axis.
  package func slice(_ axis: Int, _ range: Range<Int>) -> DoubleArray {
    let (outer, size, inner) = split(at: axis)
    var result = [Double]()
    result.reserveCapacity(outer * range.count * inner)
    for block in 0..<outer {
      let start = block * size * inner
      result += values[start + range.lowerBound * inner..<start + range.upperBound * inner]
    }
    var newShape = shape
    newShape[axis] = range.count
    return DoubleArray(shape: newShape, result)
  }

  /// Concatenates arrays along an axis.
  ///
  /// Precondition: there is at least one array, and they differ in size only along that axis.
  package static func concatenated(_ arrays: [DoubleArray], axis: Int) -> DoubleArray {
    var newShape = arrays[0].shape
    newShape[axis] = arrays.reduce(0) { $0 + $1.shape[axis] }
    let outer = arrays[0].count(0..<axis)
    var result = [Double]()
    result.reserveCapacity(newShape.reduce(1, *))
    for block in 0..<outer {
      for array in arrays {
        let length = array.count(axis..<array.rank)
        result += array.values[block * length..<(block + 1) * length]
      }
    }
    return DoubleArray(shape: newShape, result)
  }
}
