import SizeArithmetic

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
}
