/// Reads floats in an axis order that differs from the order in memory.
struct StridedReader {
  private let base: UnsafeRawPointer
  /// Sizes and strides in elements, outermost axis first, without axes of length 1 and with
  /// adjacent axes merged.
  private let shape: [Int]
  private let strides: [Int]
  /// Number of values in one step along each axis.
  private let sizes: [Int]
  /// The axis along which neighbors are adjacent in memory.
  private let nearAxis: Int

  init(base: UnsafeRawPointer, shape: [Int], strides: [Int]) {
    var joined: [(size: Int, stride: Int)] = []
    for (size, stride) in zip(shape, strides) where size != 1 {
      if let last = joined.last, last.stride == stride * size {
        joined[joined.count - 1] = (last.size * size, stride)
      } else {
        joined.append((size, stride))
      }
    }
    if joined.isEmpty { joined = [(1, 1)] }
    self.base = base
    self.shape = joined.map(\.size)
    self.strides = joined.map(\.stride)
    var sizes = [Int](repeating: 1, count: joined.count)
    for axis in sizes.indices.dropLast().reversed() {
      sizes[axis] = sizes[axis + 1] * joined[axis + 1].size
    }
    self.sizes = sizes
    nearAxis = self.strides.indices.min { joined[$0].stride < joined[$1].stride } ?? 0
  }

  func copy(_ range: Range<Int>, to target: UnsafeMutablePointer<Float>) {
    copy(axis: 0, range, offset: 0, to: target)
  }

  /// Copies the values of `range` at one position of the axes outside `axis`.
  private func copy(
    axis: Int, _ range: Range<Int>, offset: Int, to target: UnsafeMutablePointer<Float>
  ) {
    let stride = strides[axis]
    if axis == shape.count - 1 {
      line(range.count, offset + range.lowerBound * stride, stride, to: target)
      return
    }
    let size = sizes[axis]
    var position = range.lowerBound
    func part(upTo end: Int) {
      let step = position / size
      let begin = step * size
      copy(
        axis: axis + 1, position - begin..<end - begin, offset: offset + step * stride,
        to: target + (position - range.lowerBound))
      position = end
    }
    let firstWhole = (position + size - 1) / size
    let lastWhole = range.upperBound / size
    if firstWhole < lastWhole {
      if position < firstWhole * size { part(upTo: firstWhole * size) }
      if axis == nearAxis, stride == 1 {
        slabs(
          axis, firstWhole..<lastWhole, offset: offset, to: target + (position - range.lowerBound))
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
    _ count: Int, _ offset: Int, _ stride: Int, to target: UnsafeMutablePointer<Float>
  ) {
    let begin = base + offset * 4
    if stride == 1 {
      UnsafeMutableRawPointer(target).copyMemory(from: begin, byteCount: count * 4)
      return
    }
    for index in 0..<count {
      target[index] = begin.loadUnaligned(fromByteOffset: index &* stride &* 4, as: Float.self)
    }
  }

  /// Copies whole steps along the axis with adjacent neighbors, several at a time, so that every
  /// cache line is read once and used for all of them.
  private func slabs(
    _ axis: Int, _ steps: Range<Int>, offset: Int, to target: UnsafeMutablePointer<Float>
  ) {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: Tile.side * Tile.side) { buffer in
      guard let scratch = buffer.baseAddress else { return }
      for step in stride(from: steps.lowerBound, to: steps.upperBound, by: Tile.side) {
        var tile = Tile(
          base: base, width: min(Tile.side, steps.upperBound - step), scratch: scratch,
          target: target + (step - steps.lowerBound) * sizes[axis], targetStride: sizes[axis])
        columns(axis: axis + 1, offset: offset + step, &tile)
        tile.flush()
      }
    }
  }

  /// Copies every position along `axis` and the axes after it, in reading order.
  private func columns(axis: Int, offset: Int, _ tile: inout Tile) {
    for step in 0..<shape[axis] {
      let next = offset + step * strides[axis]
      if axis == shape.count - 1 {
        tile.append(next)
      } else {
        columns(axis: axis + 1, offset: next, &tile)
      }
    }
  }
}

/// A square of values that is transposed in the L1 cache: read by rows, written by columns.
private struct Tile {
  static let side = 16

  let base: UnsafeRawPointer
  /// Values per row.
  let width: Int
  /// The square, columns first.
  let scratch: UnsafeMutablePointer<Float>
  /// The destination of the rest of the first column, and the distance to the next column.
  var target: UnsafeMutablePointer<Float>
  let targetStride: Int
  private var rowCount = 0

  init(
    base: UnsafeRawPointer, width: Int, scratch: UnsafeMutablePointer<Float>,
    target: UnsafeMutablePointer<Float>, targetStride: Int
  ) {
    self.base = base
    self.width = width
    self.scratch = scratch
    self.target = target
    self.targetStride = targetStride
  }

  /// Adds the row whose first value is the element at `offset`.
  @inline(__always)
  mutating func append(_ offset: Int) {
    let row = base + offset &* 4
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
