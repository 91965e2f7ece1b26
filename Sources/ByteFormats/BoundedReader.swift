import TensorCore

/// Reads little-endian fields from bytes, never past the end.
package struct BoundedReader {
  package let bytes: Bytes
  package private(set) var position = 0

  package var remaining: Int { max(0, bytes.count - position) }

  /// The next `count` bytes, shared with the source.
  package mutating func take(_ count: Int) throws -> Bytes {
    try require(
      position >= 0 && position <= bytes.count && count >= 0 && count <= remaining,
      "the file ends too early: \(count) bytes expected at offset \(position), \(remaining) left",
      hint: "the file is truncated or damaged")
    defer { position += count }
    return bytes[position..<position + count]
  }

  package mutating func skip(_ count: Int) throws { _ = try take(count) }

  package mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type
  ) throws -> Value {
    try take(MemoryLayout<Value>.size).withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(as: Value.self))
    }
  }

  /// A 64-bit size or offset as `Int`.
  package mutating func readSize() throws -> Int {
    let value = try read(UInt64.self)
    guard let size = Int(exactly: value) else {
      throw ModelError(.limitExceeded, "invalid size \(value) at offset \(position - 8)")
    }
    return size
  }
}
