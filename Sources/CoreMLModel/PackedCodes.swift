import TensorCore

/// Codes of 1 to 8 bits, packed without gaps from the highest bits of each byte down.
package struct PackedCodes {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let bits: Int

  @inlinable
  package init(_ bytes: UnsafeRawBufferPointer, bits: Int) {
    self.bytes = bytes
    self.bits = bits
  }

  @inlinable @inline(__always)
  package subscript(index: Int) -> Int {
    if bits == 8 { return Int(bytes[index]) }
    let position = index &* bits
    let byte = position >> 3
    let high = Int(bytes[byte]) << 8
    let pair = high | (byte + 1 < bytes.count ? Int(bytes[byte + 1]) : 0)
    return (pair >> (16 &- (position & 7) &- bits)) & ((1 << bits) - 1)
  }

  /// Codes in this format; the last byte is padded with zeros.
  package static func pack(_ codes: [UInt8], bits: Int) -> Bytes {
    if bits == 8 { return Bytes(codes) }
    var bytes = [UInt8](repeating: 0, count: (codes.count * bits + 7) / 8)
    var pending: UInt32 = 0
    var pendingBits = 0
    var position = 0
    for code in codes {
      pending = pending << UInt32(bits) | UInt32(code)
      pendingBits += bits
      if pendingBits >= 8 {
        pendingBits -= 8
        bytes[position] = UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits))
        position += 1
      }
    }
    if pendingBits > 0 {
      bytes[position] = UInt8(truncatingIfNeeded: pending << UInt32(8 - pendingBits))
    }
    return Bytes(bytes)
  }
}
