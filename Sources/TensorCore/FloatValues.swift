/// Float values that are stored somewhere, possibly in another axis order, and read in pieces, so
/// that a large weight is never copied as a whole.
public struct FloatValues: Sendable {
  private let source: Bytes
  /// Shape of the values in the order in which they are read.
  public let shape: [Int]
  /// Step in the source, in elements, along each axis of `shape`.
  private let strides: [Int]

  public var count: Int { shape.reduce(1, *) }

  /// Little-endian 32-bit floats, in order.
  public init(bytes: Bytes) {
    source = bytes
    shape = [bytes.count / 4]
    strides = [1]
  }

  public init(_ values: [Float]) { self.init(bytes: Bytes(values)) }

  private init(source: Bytes, shape: [Int], strides: [Int]) {
    self.source = source
    self.shape = shape
    self.strides = strides
  }

  /// The same values, named by a shape. Precondition: the counts agree and the values are in order.
  public func shaped(_ newShape: [Int]) -> FloatValues {
    precondition(newShape.reduce(1, *) == count && isContiguous)
    var newStrides = [Int](repeating: 1, count: newShape.count)
    for axis in newShape.indices.dropLast().reversed() {
      newStrides[axis] = newStrides[axis + 1] * newShape[axis + 1]
    }
    return FloatValues(source: source, shape: newShape, strides: newStrides)
  }

  /// Axis `i` of the result is axis `axes[i]` of `self`. Nothing moves until the values are read.
  public func transposed(_ axes: [Int]) -> FloatValues {
    FloatValues(source: source, shape: axes.map { shape[$0] }, strides: axes.map { strides[$0] })
  }

  /// Whether the values lie in the source in the order in which they are read.
  public var isContiguous: Bool {
    var expected = 1
    for axis in shape.indices.reversed() where shape[axis] != 1 {
      if strides[axis] != expected { return false }
      expected *= shape[axis]
    }
    return true
  }

  /// The values as they lie in memory, where they are in order; otherwise nil.
  public var contiguousBytes: Bytes? { isContiguous ? source : nil }

  /// Copies the values of `range`, in reading order, to `target`.
  public func copy(_ range: Range<Int>, to target: UnsafeMutablePointer<Float>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    if range.isEmpty { return }
    source.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      if isContiguous {
        UnsafeMutableRawPointer(target).copyMemory(
          from: base + range.lowerBound * 4, byteCount: range.count * 4)
        return
      }
      var index = [Int](repeating: 0, count: shape.count)
      var rest = range.lowerBound
      var offset = 0
      for axis in shape.indices.reversed() {
        index[axis] = rest % shape[axis]
        rest /= shape[axis]
        offset += index[axis] * strides[axis]
      }
      let inner = shape.count - 1
      let step = strides[inner]
      var position = 0
      while position < range.count {
        let run = min(shape[inner] - index[inner], range.count - position)
        for element in 0..<run {
          target[position + element] = base.loadUnaligned(
            fromByteOffset: (offset + element * step) * 4, as: Float.self)
        }
        position += run
        offset += run * step
        index[inner] += run
        var axis = inner
        while axis >= 0, index[axis] == shape[axis] {
          offset -= strides[axis] * shape[axis]
          index[axis] = 0
          axis -= 1
          if axis >= 0 {
            index[axis] += 1
            offset += strides[axis]
          }
        }
      }
    }
  }

  public func array() -> [Float] {
    [Float](unsafeUninitializedCapacity: count) { target, initialized in
      if count > 0 { copy(0..<count, to: target.baseAddress!) }
      initialized = count
    }
  }
}

extension FloatValues: Equatable {
  /// Equal bits in reading order; the shape that names them does not count.
  public static func == (a: FloatValues, b: FloatValues) -> Bool {
    a.count == b.count
      && zip(a.array(), b.array()).allSatisfy { $0.bitPattern == $1.bitPattern }
  }
}
