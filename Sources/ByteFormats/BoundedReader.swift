import TensorCore

/// Reads little-endian fields from bytes and never past their end.
public struct BoundedReader {
  public let bytes: Bytes
  public private(set) var position: Int

  public init(_ bytes: Bytes, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  public var remaining: Int { max(0, bytes.count - position) }

  /// The next `count` bytes, shared with the source.
  public mutating func take(_ count: Int) throws -> Bytes {
    guard position >= 0, position <= bytes.count, count >= 0, count <= remaining else {
      throw ModelError(
        .malformed,
        "the file ends too early: \(count) bytes wanted at offset \(position), \(remaining) left",
        hint: "the file is cut off or damaged")
    }
    defer { position += count }
    return bytes[position..<position + count]
  }

  public mutating func skip(_ count: Int) throws { _ = try take(count) }

  public mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type
  ) throws -> Value {
    try take(MemoryLayout<Value>.size).withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(as: Value.self))
    }
  }

  /// A 64-bit size or offset as `Int`.
  public mutating func readSize() throws -> Int {
    let value = try read(UInt64.self)
    guard let size = Int(exactly: value) else {
      throw ModelError(.limitExceeded, "a size of \(value) at offset \(position - 8)")
    }
    return size
  }
}
