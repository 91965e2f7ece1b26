/// Float values stored elsewhere, possibly in another axis order. They are read in pieces, so a
/// large weight is never copied as a whole.
package struct FloatValues: Sendable {
  /// The values in memory order; a single one if it is repeated.
  let source: Bytes
  /// Shape of the values in reading order.
  package let shape: [Int]
  /// Step in the source, in elements, along each axis of `shape`.
  private let strides: [Int]

  package var count: Int { shape.reduce(1, *) }

  /// Little-endian 32-bit floats, in order.
  package init(bytes: Bytes) {
    source = bytes
    shape = [bytes.count / 4]
    strides = [1]
  }

  package init(_ values: [Float]) { self.init(bytes: Bytes(values)) }

  /// One repeated value, which takes the memory of one.
  package init(repeating value: Float, shape: [Int]) {
    self.init(
      source: Bytes([value]), shape: shape, strides: [Int](repeating: 0, count: shape.count))
  }

  private init(source: Bytes, shape: [Int], strides: [Int]) {
    self.source = source
    self.shape = shape
    self.strides = strides
  }

  /// The same values with another shape. Precondition: the counts agree, and the values are
  /// contiguous or all the same.
  package func shaped(_ newShape: [Int]) -> FloatValues {
    let isOneValue = strides.allSatisfy { $0 == 0 }
    precondition(newShape.reduce(1, *) == count && (isContiguous || isOneValue))
    if isOneValue {
      let strides = [Int](repeating: 0, count: newShape.count)
      return FloatValues(source: source, shape: newShape, strides: strides)
    }
    var newStrides = [Int](repeating: 1, count: newShape.count)
    for axis in newShape.indices.dropLast().reversed() {
      newStrides[axis] = newStrides[axis + 1] * newShape[axis + 1]
    }
    return FloatValues(source: source, shape: newShape, strides: newStrides)
  }

  /// The same values, in reading order, with another shape. Precondition: the counts agree.
  ///
  /// - Throws: as `array()`.
  package func reshaped(_ newShape: [Int]) throws -> FloatValues {
    try (isContiguous ? self : FloatValues(array())).shaped(newShape)
  }

  /// Axis `i` of the result is axis `axes[i]` of `self`. The data moves only when it is read.
  package func transposed(_ axes: [Int]) -> FloatValues {
    FloatValues(source: source, shape: axes.map { shape[$0] }, strides: axes.map { strides[$0] })
  }

  /// Whether memory order equals reading order.
  package var isContiguous: Bool {
    var expected = 1
    for axis in shape.indices.reversed() where shape[axis] != 1 {
      if strides[axis] != expected { return false }
      expected *= shape[axis]
    }
    return true
  }

  /// The values in memory, or nil if they are not contiguous.
  package var contiguousBytes: Bytes? { isContiguous ? source : nil }

  /// The bytes of the values in reading order: in place, or a copy.
  ///
  /// - Throws: as `array()`.
  package func contiguous() throws -> Bytes {
    if let bytes = contiguousBytes { return bytes }
    let count = try computedCount(shape, limit: .max)
    let buffer = try AlignedBuffer(checkedByteCount: count * 4)
    try copyOnce(to: buffer.pointer.bindMemory(to: Float.self, capacity: count))
    return Bytes(base: buffer.pointer, count: count * 4, owner: buffer)
  }

  /// Copies all values, in reading order, to `target`. A mapped file's pages are dropped as they have
  /// been read: a large transposed matrix is read in the order of the file, a few rows at a time.
  package func copyOnce(to target: UnsafeMutablePointer<Float>) throws {
    let (width, stride) = (shape.last ?? 1, strides.last ?? 1)
    let rows = width == 0 ? 0 : count / width
    let step = max(16, Self.slab / max(rows, 1))
    guard stride > 1, stride == strides.max(), step < width else {
      copy(0..<count, to: target)
      return source.dropPages()
    }
    let slab = try AlignedBuffer(checkedByteCount: rows * step * 4)
    let part = slab.pointer.bindMemory(to: Float.self, capacity: rows * step)
    for begin in Swift.stride(from: 0, to: width, by: step) {
      let columns = min(step, width - begin)
      let bytes = source[begin * stride * 4..<min((begin + columns) * stride * 4, source.count)]
      let values = FloatValues(
        source: bytes, shape: shape.dropLast() + [columns], strides: strides)
      values.copy(0..<values.count, to: part)
      for row in 0..<rows {
        (target + row * width + begin).update(from: part + row * columns, count: columns)
      }
      bytes.dropPages()
    }
  }

  /// Values that `copyOnce` reads at once.
  private static let slab = 1 << 20

  /// Copies the values of `range`, in reading order, to `target`.
  package func copy(_ range: Range<Int>, to target: UnsafeMutablePointer<Float>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    if range.isEmpty { return }
    source.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      if isContiguous {
        UnsafeMutableRawPointer(target).copyMemory(
          from: base + range.lowerBound * 4, byteCount: range.count * 4)
      } else {
        StridedReader(base: base, shape: shape, strides: strides).copy(range, to: target)
      }
    }
  }

  /// The function of each value, with the same shape; a repeated value is computed once.
  ///
  /// - Throws: as `array()`.
  package func map(_ function: (Float) -> Float) throws -> FloatValues {
    if count > 0, strides.allSatisfy({ $0 == 0 }) {
      let value = try FloatValues(source: source, shape: [1], strides: [0]).array()[0]
      return FloatValues(repeating: function(value), shape: shape)
    }
    return FloatValues(try array().map(function)).shaped(shape)
  }

  /// A copy of all values.
  ///
  /// - Throws: `.outOfMemory` if the copy and what is computed from it would exceed
  ///   `MemoryBudget.limit`; see `computedCount`.
  package func array() throws -> [Float] {
    let count = try computedCount(shape, limit: .max)
    return [Float](unsafeUninitializedCapacity: count) { target, initialized in
      if count > 0 { copy(0..<count, to: target.baseAddress!) }
      initialized = count
    }
  }

  /// Whether any value meets the condition; no value after the first that does is read.
  package func contains(where condition: (Float) -> Bool) -> Bool {
    containsPiece { $0.contains(where: condition) }
  }

  /// The number of values that meet the condition.
  package func count(where condition: (Float) -> Bool) -> Int {
    var result = 0
    _ = containsPiece { piece in
      for value in piece where condition(value) { result += 1 }
      return false
    }
    return result
  }

  /// Whether any of the pieces, which follow one another in reading order, meets the condition.
  private func containsPiece(_ condition: (Slice<UnsafeMutableBufferPointer<Float>>) -> Bool)
    -> Bool
  {
    let length = max(1, min(count, 1 << 16))
    return withUnsafeTemporaryAllocation(of: Float.self, capacity: length) { buffer in
      stride(from: 0, to: count, by: length).contains { begin in
        let range = begin..<min(begin + length, count)
        if let target = buffer.baseAddress { copy(range, to: target) }
        return condition(buffer.prefix(range.count))
      }
    }
  }
}

extension FloatValues: Equatable {
  /// Whether the bits are equal in reading order, regardless of shape.
  package static func == (a: FloatValues, b: FloatValues) -> Bool {
    if a.count != b.count { return false }
    if let x = a.contiguousBytes, let y = b.contiguousBytes {
      return x[0..<a.count * 4] == y[0..<a.count * 4]
    }
    let block = 1 << 16
    let buffers = [AlignedBuffer(byteCount: 4 * block), AlignedBuffer(byteCount: 4 * block)]
    let x = buffers[0].pointer.bindMemory(to: Float.self, capacity: block)
    let y = buffers[1].pointer.bindMemory(to: Float.self, capacity: block)
    return withExtendedLifetime(buffers) {
      stride(from: 0, to: a.count, by: block).allSatisfy { begin in
        let range = begin..<min(begin + block, a.count)
        a.copy(range, to: x)
        b.copy(range, to: y)
        return (0..<range.count).allSatisfy { x[$0].bitPattern == y[$0].bitPattern }
      }
    }
  }
}
