import CHDF5

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

  /// Bit patterns of the same values in single precision, which holds them all.
  ///
  /// `target` may begin `2 * count` bytes before `source`: element i is written only after
  /// elements up to i have been read.
  static func widen(_ source: UnsafePointer<UInt16>, _ count: Int, to target: UnsafeMutablePointer<UInt32>) {
    // 2^112 moves the exponent's bias from 15 to 127, subnormal numbers included.
    let scale = Float(bitPattern: (112 + 127) << 23)
    for index in 0..<count {
      let half = UInt32(source[index])
      var magnitude = (Float(bitPattern: (half & 0x7fff) << 13) * scale).bitPattern
      if half & 0x7c00 == 0x7c00 { magnitude = 0x7f80_0000 | (half & 0x3ff) << 13 }
      target[index] = magnitude | (half & 0x8000) << 16
    }
  }
}
