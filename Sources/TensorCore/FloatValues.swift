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

  /// One repeated value, stored once.
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
    return FloatValues(
      source: source, shape: newShape,
      strides: isOneValue ? newShape.map { _ in 0 } : Tensor.strides(newShape))
  }

  /// The same values, in reading order, with another shape. Precondition: the counts agree.
  ///
  /// - Throws: as `array()`.
  package func reshaped(_ newShape: [Int]) throws -> FloatValues {
    if newShape == shape { return self }
    return try (isContiguous ? self : FloatValues(array())).shaped(newShape)
  }

  /// Axis `i` of the result is axis `axes[i]` of `self`. Data is rearranged only when it is read.
  package func transposed(_ axes: [Int]) -> FloatValues {
    FloatValues(source: source, shape: axes.map { shape[$0] }, strides: axes.map { strides[$0] })
  }

  /// The values in `range` of an axis. For the outermost axis in memory, the source is cut, too.
  package func slice(_ axis: Int, _ range: Range<Int>) -> FloatValues {
    var part = shape
    part[axis] = range.count
    let begin = range.lowerBound * strides[axis] * 4
    let end = strides[axis] == strides.max() ? range.upperBound * strides[axis] * 4 : source.count
    return FloatValues(
      source: source[min(begin, source.count)..<min(end, source.count)], shape: part,
      strides: strides)
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

  /// Copies all values, in reading order, to `target`, and drops a mapped file's pages once they
  /// have been read: a large transposed weight is read in file order, some steps along the file's
  /// outermost axis at a time.
  package func copyOnce(to target: UnsafeMutablePointer<Float>) throws {
    guard let axis = strides.indices.max(by: { strides[$0] < strides[$1] }), strides[axis] > 1
    else { return copy(0..<count, to: target) }
    let (before, after) = (shape.prefix(axis).reduce(1, *), shape.dropFirst(axis + 1).reduce(1, *))
    let step = max(
      1, min(max(16, Self.slab / max(before, 1)) / max(after, 1), 16 * Self.slab / strides[axis]))
    guard axis > 0, step < shape[axis] else {
      copy(0..<count, to: target)
      return source.dropPages()
    }
    let slab = try AlignedBuffer(checkedByteCount: before * step * after * 4)
    let part = slab.pointer.bindMemory(to: Float.self, capacity: before * step * after)
    for begin in Swift.stride(from: 0, to: shape[axis], by: step) {
      let values = slice(axis, begin..<min(begin + step, shape[axis]))
      values.copy(0..<values.count, to: part)
      let run = values.shape[axis] * after
      for index in 0..<before {
        let to = target + (index * shape[axis] + begin) * after
        to.update(from: part + index * run, count: run)
      }
      values.source.dropPages()
    }
  }

  /// Number of values that `copyOnce` reads at a time.
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
        StridedReader(shape: shape, strides: strides).copy(range, from: base, to: target)
      }
    }
  }

  /// Applies `function` to each value; a repeated value is computed once.
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

  /// Whether any value meets the condition; stops reading at the first that does.
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

  /// Whether a piece meets the condition; pieces are read in order, up to the first that does.
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
