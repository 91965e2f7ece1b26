import SizeArithmetic
import TensorCore

/// Packs codes of `bits` bits, the first one in a byte's highest bits; the last byte is padded with
/// zeros.
func packedCodes(_ codes: [UInt8], bits: Int) -> Bytes {
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
