import Assay
import CAssay

/// The elements of an array in C, with any strides.
struct ElementView {
  let type: NumericType
  let shape: [Int]
  let count: Int
  private let base: UnsafeRawPointer
  /// Bytes between neighbors along each axis.
  private let strides: [Int]

  /// - Throws: `.mismatch` if the type is unknown or the sizes are out of bounds.
  init(_ value: assay_value) throws {
    guard let type = NumericType(number: value.type) else {
      throw ModelError(.usage, "unknown type \(value.type)")
    }
    self.type = type
    let rank = value.rank
    try require(
      rank <= Limits.rank, .limitExceeded, "\(rank) axes exceed the limit of \(Limits.rank)")
    let sizes = try rank == 0 ? nil : argument(value.shape, "shape")
    shape = (0..<rank).map { Int(sizes?[$0] ?? 0) }
    try require(
      shape.allSatisfy { $0 >= 0 }, .mismatch, "an array of shape \(shape) has a negative size")
    count = try checkedProduct(shape, limit: Limits.tensorElements)
    base = try count == 0 ? UnsafeRawPointer(bitPattern: 1)! : argument(value.data, "data")
    var dense = [Int](repeating: type.byteCount, count: rank)
    for axis in dense.indices.dropLast().reversed() {
      dense[axis] = dense[axis + 1] &* max(1, shape[axis + 1])
    }
    strides = value.strides.map { given in (0..<rank).map { Int(given[$0]) } } ?? dense
    hasGaps = zip(shape, zip(strides, dense)).contains { $0 > 1 && $1.0 != $1.1 }
  }

  /// Whether rows are not contiguous in memory.
  private let hasGaps: Bool

  /// The elements in place; nil if they are not dense 32-bit floats.
  var floats: UnsafeBufferPointer<Float>? {
    guard type == .float32, !hasGaps, UInt(bitPattern: base) % 4 == 0 else { return nil }
    return UnsafeBufferPointer(start: base.assumingMemoryBound(to: Float.self), count: count)
  }

  /// Converts each element to the nearest representable value.
  func convert<Value: BinaryFloatingPoint>(to target: UnsafeMutableBufferPointer<Value>) throws {
    let rows = try hasGaps ? rows() : Bytes(base: base, count: byteCount, owner: nil)
    rows.withUnsafeBytes { type.convert($0, isBigEndian: 1.bigEndian == 1, to: target) }
  }

  /// A dense row-major copy of the elements.
  func rows() throws -> Bytes {
    let buffer = try AlignedBuffer(checkedByteCount: byteCount)
    var end = buffer.pointer
    if count > 0 { copyRows(axis: 0, base, to: &end) }
    return Bytes(base: buffer.pointer, count: byteCount, owner: buffer)
  }

  private var byteCount: Int { count * type.byteCount }

  private func copyRows(
    axis: Int, _ source: UnsafeRawPointer, to target: inout UnsafeMutableRawPointer
  ) {
    let (size, stride) = (shape[axis], strides[axis])
    let isLast = axis == shape.count - 1
    if isLast, stride == type.byteCount {
      target.copyMemory(from: source, byteCount: size * stride)
      target += size * stride
      return
    }
    for index in 0..<size {
      let element = source + index * stride
      if isLast {
        target.copyMemory(from: element, byteCount: type.byteCount)
        target += type.byteCount
      } else {
        copyRows(axis: axis + 1, element, to: &target)
      }
    }
  }
}
