/// IEEE 754 binary16 as bit patterns. `Float16` does not exist on every platform; this is integer
/// arithmetic that the compiler vectorizes.
package enum Half {
  /// The exact value of `bits`; NaN keeps its payload.
  @inlinable @inline(__always)
  package static func float(_ bits: UInt16) -> Float {
    let half = UInt32(truncatingIfNeeded: bits)
    let magnitude = (half & 0x7FFF) << 13
    let exponent = magnitude & 0x0F80_0000
    let normal = magnitude &+ 0x3800_0000
    let special = magnitude &+ 0x7000_0000
    // 2⁻¹⁴ · (1 + m/2¹⁰) − 2⁻¹⁴ is the subnormal m · 2⁻²⁴, without rounding.
    let subnormal =
      (Float(bitPattern: magnitude &+ 0x3880_0000) - Float(bitPattern: 0x3880_0000)).bitPattern
    let result = exponent == 0x0F80_0000 ? special : exponent == 0 ? subnormal : normal
    return Float(bitPattern: result | ((half & 0x8000) << 16))
  }

  /// The nearest half, ties to even; infinity from 65520 up. NaN stays a quiet NaN with the upper
  /// bits of its payload.
  @inlinable @inline(__always)
  package static func bits(_ value: Float) -> UInt16 {
    let sign = value.bitPattern & 0x8000_0000
    let magnitude = value.bitPattern ^ sign
    let isOdd = (magnitude >> 13) & 1
    let normal = (magnitude &- 0x3800_0000 &+ 0xFFF &+ isOdd) >> 13
    // Adding 0.5, whose last bit is worth 2⁻²⁴, rounds the value.
    let subnormal = (Float(bitPattern: magnitude) + 0.5).bitPattern &- 0x3F00_0000
    let special =
      magnitude > 0x7F80_0000 ? 0x7E00 | ((magnitude >> 13) & 0x3FF) : UInt32(0x7C00)
    let result =
      magnitude >= 0x4780_0000 ? special : magnitude < 0x3880_0000 ? subnormal : normal
    return UInt16(truncatingIfNeeded: result | (sign >> 16))
  }

  /// The value of the nearest half, ties to even; infinity from 65520 up.
  @inlinable @inline(__always)
  package static func rounded(_ value: Float) -> Float { float(bits(value)) }

  /// The nearest half, ties to even; infinity from 65520 up.
  @inlinable @inline(__always)
  package static func rounded(_ value: Double) -> Double {
    let magnitude = value.magnitude
    if magnitude < 0x1p-14 {
      // The last bit of the sum is worth 2⁻²⁴, like that of a subnormal half.
      return value + 0x1.8p28 - 0x1.8p28
    }
    guard magnitude < 65520 else { return value.isNaN ? value : value < 0 ? -.infinity : .infinity }
    let isOdd = (value.bitPattern >> 42) & 1
    return Double(bitPattern: (value.bitPattern &+ (1 << 41 - 1) &+ isOdd) & ~(1 << 42 - 1))
  }

  /// Whether a finite number becomes infinite: from 65520 up.
  @inlinable @inline(__always)
  package static func overflows(_ value: some BinaryFloatingPoint) -> Bool {
    value.isFinite && value.magnitude >= 65520
  }

  /// Converts little-endian halves, at any alignment, to floats. Precondition: two bytes per
  /// element.
  package static func convert(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableBufferPointer<Float>
  ) {
    precondition(source.count == target.count * 2)
    guard let from = source.baseAddress, let to = target.baseAddress else { return }
    for index in 0..<target.count {
      to[index] = float(
        UInt16(littleEndian: from.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
    }
  }

  /// The nearest halves of the values, ties to even.
  package static func bytes(_ values: [Float]) -> Bytes { Bytes(values.map(bits)) }

  /// Converts floats to halves in native byte order. Precondition: the counts agree.
  package static func convert(
    _ source: UnsafeBufferPointer<Float>, to target: UnsafeMutableBufferPointer<UInt16>
  ) {
    precondition(source.count == target.count)
    guard let from = source.baseAddress, let to = target.baseAddress else { return }
    for index in 0..<target.count { to[index] = bits(from[index]) }
  }
}
