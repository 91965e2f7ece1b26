/// A weight as stored in the file.
package struct CaffeBlob: Sendable {
  package enum Storage: Sendable {
    case single(FloatValues)
    case double(Bytes)
    case half(Bytes)
    /// Values that are read on demand.
    case deferred(@Sendable () throws -> FloatValues)
  }

  package let shape: [Int]
  /// Whether the shape is the four numbers that Caffe stored before it had shapes of any rank.
  package let isLegacy: Bool
  package let storage: Storage

  /// Whether Caffe accepts the blob as one of `shape`: leading 1s of the four legacy numbers are
  /// ignored.
  package func fits(_ shape: [Int]) -> Bool {
    if self.shape == shape { return true }
    guard isLegacy, shape.count <= 4 else { return false }
    return self.shape == [Int](repeating: 1, count: 4 - shape.count) + shape
  }

  /// The values in row-major order; single precision is read in place.
  package func values() throws -> FloatValues {
    switch storage {
    case .single(let values): return values
    case .deferred(let read): return try read()
    case .half(let bytes):
      let count = bytes.count / 2
      let buffer = try AlignedBuffer(checkedByteCount: count * 4)
      let target = UnsafeMutableBufferPointer(
        start: buffer.pointer.bindMemory(to: Float.self, capacity: max(count, 1)), count: count)
      bytes[0..<count * 2].withUnsafeBytes { Half.convert($0, to: target) }
      return Self.values(buffer, count)
    case .double(let bytes):
      let count = bytes.count / 8
      let buffer = try AlignedBuffer(checkedByteCount: count * 4)
      let target = buffer.pointer.bindMemory(to: Float.self, capacity: max(count, 1))
      bytes.withUnsafeBytes { source in
        for index in 0..<count {
          target[index] = Float(source.loadUnaligned(fromByteOffset: index &* 8, as: Double.self))
        }
      }
      return Self.values(buffer, count)
    }
  }

  private static func values(_ buffer: AlignedBuffer, _ count: Int) -> FloatValues {
    FloatValues(
      bytes: Bytes(base: UnsafeRawPointer(buffer.pointer), count: count * 4, owner: buffer))
  }
}
