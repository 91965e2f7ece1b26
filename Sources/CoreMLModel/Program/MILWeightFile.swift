import TensorCore

/// A file of weights next to a program (`weight.bin`): a header of 64 bytes, then for each value 64
/// bytes of description and the bytes of the value, both aligned to 64 bytes.
package struct MILWeightFile: Sendable, Equatable {
  static let alignment = 64
  static let sentinel: UInt32 = 0xDEAD_BEEF
  static let version: UInt32 = 2

  /// The codes of types in the file.
  private static let types: [UInt32: MILDataType] = [
    1: .float16, 2: .float32, 3: .uint8, 4: .int8, 5: .bfloat16, 6: .int16, 7: .uint16, 8: .int4,
    9: .uint1, 10: .uint2, 11: .uint4, 12: .uint3, 13: .uint6, 14: .int32, 15: .uint32,
    16: .float8E4M3FN, 17: .float8E5M2,
  ]

  /// The whole file.
  package let bytes: Bytes

  /// The code of a type in the file; nil for types that are never in one.
  static func number(of type: MILDataType) -> UInt32? { types.first { $0.value == type }?.key }

  /// - Throws: `.malformed` unless the header is one of version 2.
  package init(_ bytes: Bytes) throws {
    self.bytes = bytes
    try require(
      bytes.count >= Self.alignment, "the weight file has \(bytes.count) bytes, less than a header")
    let version = number(4, UInt32.self)
    try require(
      version == Self.version, .unsupported,
      "the weight file has version \(version); version \(Self.version) is supported")
  }

  /// The elements described at `offset`, checked to be `count` of `type`.
  package func elements(at offset: Int, _ type: MILDataType, count: Int) throws -> Bytes {
    try require(
      offset >= Self.alignment && offset % Self.alignment == 0
        && offset <= bytes.count - Self.alignment,
      "offset \(offset) is outside the weight file of \(bytes.count) bytes, or not a multiple of 64"
    )
    try require(
      number(offset, UInt32.self) == Self.sentinel,
      "no weights start at offset \(offset) of the weight file")
    let stored = number(offset + 4, UInt32.self)
    try require(
      Self.types[stored] == type,
      "the weight file has \(Self.types[stored].map(\.name) ?? "type \(stored)") at offset "
        + "\(offset), the program \(type.name)")
    guard let size = Int(exactly: number(offset + 8, UInt64.self)),
      let start = Int(exactly: number(offset + 16, UInt64.self)),
      start % Self.alignment == 0, start >= Self.alignment, start <= bytes.count,
      size <= bytes.count - start
    else {
      throw ModelError(
        .malformed,
        "the weights at offset \(offset) are not within the weight file of \(bytes.count) bytes")
    }
    let needed = try type.byteCount(count)
    try require(
      size == needed, "the weights at offset \(offset) take \(size) bytes; \(needed) are needed")
    if let bits = type.bitWidth, bits < 8 {
      let padding = number(offset + 24, UInt64.self)
      try require(
        padding == UInt64(size * 8 - count * bits),
        "the weights at offset \(offset) end with \(padding) unused bits; "
          + "\(size * 8 - count * bits) are needed")
    }
    return bytes[start..<start + size]
  }

  private func number<Value: FixedWidthInteger & BitwiseCopyable>(
    _ offset: Int, _ type: Value.Type
  ) -> Value {
    bytes.withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type))
    }
  }
}

extension MILDataType {
  /// The size of `count` elements in bytes.
  ///
  /// - Throws: for a type without a size, or a count beyond the limits.
  package func byteCount(_ count: Int) throws -> Int {
    guard let bitWidth else {
      throw ModelError(.malformed, "elements of type \(name) have no size")
    }
    return try (checkedProduct([count, bitWidth], limit: Limits.tensorElements * 64) + 7) / 8
  }
}
