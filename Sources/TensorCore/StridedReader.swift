/// Reads floats in an axis order that differs from the order in memory.
package struct StridedReader: Sendable {
  /// Sizes and strides in elements, outermost axis first, without axes of length 1 and with
  /// adjacent axes merged.
  private let shape: [Int]
  private let strides: [Int]
  /// Number of values in one step along each axis.
  private let sizes: [Int]
  /// The axis along which neighbors are adjacent in memory.
  private let nearAxis: Int

  package init(shape: [Int], strides: [Int]) {
    var joined: [(size: Int, stride: Int)] = []
    for (size, stride) in zip(shape, strides) where size != 1 {
      if let last = joined.last, last.stride == stride * size {
        joined[joined.count - 1] = (last.size * size, stride)
      } else {
        joined.append((size, stride))
      }
    }
    if joined.isEmpty { joined = [(1, 1)] }
    self.shape = joined.map(\.size)
    self.strides = joined.map(\.stride)
    sizes = Tensor.strides(self.shape)
    nearAxis = self.strides.indices.min { joined[$0].stride < joined[$1].stride } ?? 0
  }

  /// Copies the values of `range` of the array at `base`, which is one position of the axes outside
  /// `axis`.
  package func copy(
    _ range: Range<Int>, from base: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>,
    axis: Int = 0
  ) {
    let stride = strides[axis]
    if axis == shape.count - 1 {
      line(range.count, base + range.lowerBound * stride * 4, stride, to: target)
      return
    }
    let size = sizes[axis]
    var position = range.lowerBound
    func part(upTo end: Int) {
      let step = position / size
      let begin = step * size
      copy(
        position - begin..<end - begin, from: base + step * stride * 4,
        to: target + (position - range.lowerBound), axis: axis + 1)
      position = end
    }
    let firstWhole = (position + size - 1) / size
    let lastWhole = range.upperBound / size
    if firstWhole < lastWhole {
      if position < firstWhole * size { part(upTo: firstWhole * size) }
      if axis == nearAxis, stride == 1 {
        slabs(
          axis, firstWhole..<lastWhole, from: base, to: target + (position - range.lowerBound))
        position = lastWhole * size
      } else {
        while position < lastWhole * size { part(upTo: position + size) }
      }
    }
    while position < range.upperBound {
      part(upTo: min(range.upperBound, (position / size + 1) * size))
    }
  }

  private func line(
    _ count: Int, _ begin: UnsafeRawPointer, _ stride: Int, to target: UnsafeMutablePointer<Float>
  ) {
    switch stride {
    case 0: target.update(repeating: begin.loadUnaligned(as: Float.self), count: count)
    case 1: UnsafeMutableRawPointer(target).copyMemory(from: begin, byteCount: count * 4)
    default:
      for index in 0..<count {
        target[index] = begin.loadUnaligned(fromByteOffset: index &* stride &* 4, as: Float.self)
      }
    }
  }

  /// Copies whole steps along the axis with adjacent neighbors, several at a time, so that every
  /// cache line is read once and used for all of them.
  private func slabs(
    _ axis: Int, _ steps: Range<Int>, from base: UnsafeRawPointer,
    to target: UnsafeMutablePointer<Float>
  ) {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: Tile.side * Tile.side) { buffer in
      guard let scratch = buffer.baseAddress else { return }
      for step in stride(from: steps.lowerBound, to: steps.upperBound, by: Tile.side) {
        var tile = Tile(
          width: min(Tile.side, steps.upperBound - step), scratch: scratch,
          target: target + (step - steps.lowerBound) * sizes[axis], targetStride: sizes[axis])
        columns(axis: axis + 1, base + step * 4, &tile)
        tile.flush()
      }
    }
  }

  /// Copies every position along `axis` and the axes after it, in reading order.
  private func columns(axis: Int, _ base: UnsafeRawPointer, _ tile: inout Tile) {
    for step in 0..<shape[axis] {
      let next = base + step * strides[axis] * 4
      if axis == shape.count - 1 {
        tile.append(next)
      } else {
        columns(axis: axis + 1, next, &tile)
      }
    }
  }
}

/// A square of values that is transposed in the L1 cache: read by rows, written by columns.
private struct Tile {
  static let side = 16

  /// Values per row.
  let width: Int
  /// The square, columns first.
  let scratch: UnsafeMutablePointer<Float>
  /// The destination of the rest of the first column, and the distance to the next column.
  var target: UnsafeMutablePointer<Float>
  let targetStride: Int
  var rowCount = 0

  /// Adds the row that starts at `row`.
  @inline(__always)
  mutating func append(_ row: UnsafeRawPointer) {
    let column = scratch + rowCount
    if width == Self.side {
      let values = row.loadUnaligned(as: SIMD16<Float>.self)
      for index in 0..<Self.side { column[index &* Self.side] = values[index] }
    } else {
      for index in 0..<width {
        column[index &* Self.side] = row.loadUnaligned(fromByteOffset: index &* 4, as: Float.self)
      }
    }
    rowCount &+= 1
    if rowCount == Self.side { flush() }
  }

  mutating func flush() {
    for index in 0..<width {
      let from = scratch + index &* Self.side
      let to = target + index &* targetStride
      if rowCount == Self.side {
        UnsafeMutableRawPointer(to).storeBytes(
          of: UnsafeRawPointer(from).loadUnaligned(as: SIMD16<Float>.self), as: SIMD16<Float>.self)
      } else {
        to.update(from: from, count: rowCount)
      }
    }
    target += rowCount
    rowCount = 0
  }
}
