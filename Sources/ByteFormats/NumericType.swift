import TensorCore

/// Element types of array files; the raw value is NumPy's kind and size.
package enum NumericType: String, Sendable, CaseIterable {
  case bool = "b1"
  case int8 = "i1"
  case int16 = "i2"
  case int32 = "i4"
  case int64 = "i8"
  case uint8 = "u1"
  case uint16 = "u2"
  case uint32 = "u4"
  case uint64 = "u8"
  case float16 = "f2"
  case float32 = "f4"
  case float64 = "f8"

  package var byteCount: Int { Int(rawValue.utf8.last ?? 0) - 0x30 }

  package var isInteger: Bool { rawValue.first != "f" }

  /// Converts each element to the nearest `Value`. Precondition: `byteCount` bytes per element of
  /// `target`.
  package func convert<Value: BinaryFloatingPoint>(
    _ source: UnsafeRawBufferPointer, isBigEndian: Bool,
    to target: UnsafeMutableBufferPointer<Value>
  ) {
    precondition(source.count == target.count * byteCount)
    switch self {
    case .bool: loop(source, isBigEndian, target) { (bits: UInt8) in bits == 0 ? 0 : 1 }
    case .int8: loop(source, isBigEndian, target) { (bits: Int8) in Value(Int(bits)) }
    case .int16: loop(source, isBigEndian, target) { (bits: Int16) in Value(Int(bits)) }
    case .int32: loop(source, isBigEndian, target) { (bits: Int32) in Value(Int(bits)) }
    case .int64: loop(source, isBigEndian, target) { (bits: Int64) in Value(Int(bits)) }
    case .uint8: loop(source, isBigEndian, target) { (bits: UInt8) in Value(Int(bits)) }
    case .uint16: loop(source, isBigEndian, target) { (bits: UInt16) in Value(Int(bits)) }
    case .uint32: loop(source, isBigEndian, target) { (bits: UInt32) in Value(Int(bits)) }
    case .uint64: loop(source, isBigEndian, target) { (bits: UInt64) in Value(bits) }
    case .float16: loop(source, isBigEndian, target) { (bits: UInt16) in Value(Half.float(bits)) }
    case .float32:
      loop(source, isBigEndian, target) { (bits: UInt32) in Value(Float(bitPattern: bits)) }
    case .float64:
      loop(source, isBigEndian, target) { (bits: UInt64) in Value(Double(bitPattern: bits)) }
    }
  }

  @inline(__always)
  private func loop<Bits: FixedWidthInteger & BitwiseCopyable, Value>(
    _ source: UnsafeRawBufferPointer, _ isBigEndian: Bool,
    _ target: UnsafeMutableBufferPointer<Value>, _ value: (Bits) -> Value
  ) {
    guard let from = source.baseAddress, let to = target.baseAddress else { return }
    let size = MemoryLayout<Bits>.size
    if isBigEndian {
      for index in 0..<target.count {
        to[index] = value(
          Bits(bigEndian: from.loadUnaligned(fromByteOffset: index &* size, as: Bits.self)))
      }
    } else {
      for index in 0..<target.count {
        to[index] = value(
          Bits(littleEndian: from.loadUnaligned(fromByteOffset: index &* size, as: Bits.self)))
      }
    }
  }
}
