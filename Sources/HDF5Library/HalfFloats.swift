import CHDF5
import TensorCore

/// IEEE 754 half precision.
enum HalfFloats {
  static func isIEEE(_ type: borrowing Handle) -> Bool {
    var sign = 0
    var exponent = 0
    var exponentSize = 0
    var mantissa = 0
    var mantissaSize = 0
    return H5Tget_fields(type.id, &sign, &exponent, &exponentSize, &mantissa, &mantissaSize) >= 0
      && (sign, exponent, exponentSize) == (15, 10, 5) && (mantissa, mantissaSize) == (0, 10)
      && H5Tget_ebias(type.id) == 15 && H5Tget_precision(type.id) == 16
      && H5Tget_offset(type.id) == 0 && H5Tget_norm(type.id) == H5T_NORM_IMPLIED
  }

  /// Widens halves that are at the end of `target`'s memory.
  ///
  /// Element i is written only after the elements up to i have been read.
  static func widenInPlace(_ target: UnsafeMutableRawPointer, count: Int) {
    let block = 4096
    withUnsafeTemporaryAllocation(byteCount: block * 2, alignment: 64) { halves in
      var done = 0
      while done < count {
        let length = min(block, count - done)
        let piece = UnsafeMutableRawBufferPointer(rebasing: halves[..<(length * 2)])
        piece.copyMemory(
          from: UnsafeRawBufferPointer(start: target + (count + done) * 2, count: length * 2))
        Half.convert(
          UnsafeRawBufferPointer(piece),
          to: UnsafeMutableBufferPointer(
            start: (target + done * 4).assumingMemoryBound(to: Float.self), count: length))
        done += length
      }
    }
  }
}
