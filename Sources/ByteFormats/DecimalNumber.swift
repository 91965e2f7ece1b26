/// Decimal numbers in text, independent of locale.
enum DecimalNumber {
  /// The float nearest to the number at the start of `text`, and its length in bytes;
  /// nil without a number. Grammar: `[+-]? digits [. digits] [e[+-]digits]`, where the digits may be
  /// missing on one side of the point but not on both, or nan, inf or infinity in any case.
  static func parse(_ text: UnsafeRawBufferPointer.SubSequence) -> (value: Float, length: Int)? {
    var position = text.startIndex
    func peek() -> UInt8 { position < text.endIndex ? text[position] : 0 }
    var isNegative = false
    if peek() == UInt8(ascii: "-") || peek() == UInt8(ascii: "+") {
      isNegative = peek() == UInt8(ascii: "-")
      position += 1
    }
    if let (word, value) = word(text[position...]) {
      return (isNegative ? -value : value, position - text.startIndex + word)
    }
    // 19 digits fit; later ones change the value by a relative 10⁻¹⁸ at most.
    var mantissa: UInt64 = 0
    var digitCount = 0
    var exponent = 0
    var hasDigits = false
    var seesPoint = false
    while true {
      let byte = peek()
      if byte == UInt8(ascii: "."), !seesPoint {
        seesPoint = true
      } else if byte >= 0x30, byte <= 0x39 {
        hasDigits = true
        if digitCount < 19 {
          mantissa = mantissa * 10 + UInt64(byte - 0x30)
          if mantissa > 0 { digitCount += 1 }
          if seesPoint { exponent -= 1 }
        } else if !seesPoint {
          exponent += 1
        }
      } else {
        break
      }
      position += 1
    }
    guard hasDigits else { return nil }
    if peek() | 0x20 == UInt8(ascii: "e") {
      let mark = position
      position += 1
      let sign = peek()
      if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { position += 1 }
      var written = 0
      let first = position
      while peek() >= 0x30, peek() <= 0x39 {
        written = min(written * 10 + Int(peek() - 0x30), 100_000)
        position += 1
      }
      if position == first {
        position = mark
      } else {
        exponent += sign == UInt8(ascii: "-") ? -written : written
      }
    }
    let length = position - text.startIndex
    if let value = product(mantissa, exponent) { return (isNegative ? -value : value, length) }
    let written = String(decoding: text[text.startIndex..<position], as: UTF8.self)
    return Float(written).map { ($0, length) }
  }

  /// Whether the number at the start of `text`, read as `value`, is infinite but written in digits.
  static func overflows(_ value: Float, _ text: UnsafeRawBufferPointer.SubSequence) -> Bool {
    value.isInfinite && text.prefix(3).contains { (0x30...0x39).contains($0) }
  }

  /// `mantissa · 10^exponent` in double precision, rounded to float, or nil if that might not be
  /// the nearest float. Each of the three roundings before the last (of the digits, the mantissa
  /// and the product) moves the double by at most one unit, so the double must not be that close to
  /// the midpoint between two floats.
  private static func product(_ mantissa: UInt64, _ exponent: Int) -> Float? {
    if mantissa == 0 { return 0 }
    guard abs(exponent) < powers.count else { return nil }
    let product =
      exponent < 0 ? Double(mantissa) / powers[-exponent] : Double(mantissa) * powers[exponent]
    let middle = Int64(product.bitPattern & 0x1FFF_FFFF) - 0x1000_0000
    guard product >= Double(Float.leastNormalMagnitude), product < 0x1p127, abs(middle) > 8 else {
      return nil
    }
    return Float(product)
  }

  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  private static func word(
    _ text: UnsafeRawBufferPointer.SubSequence
  ) -> (length: Int, value: Float)? {
    guard let first = text.first, first | 0x20 == 0x69 || first | 0x20 == 0x6E else { return nil }
    let words: [(StaticString, Float)] = [
      ("infinity", .infinity), ("inf", .infinity), ("nan", .nan),
    ]
    for (word, value) in words where text.count >= word.utf8CodeUnitCount {
      let expected = UnsafeRawBufferPointer(
        start: word.utf8Start, count: word.utf8CodeUnitCount)
      guard zip(text, expected).allSatisfy({ $0 | 0x20 == $1 }) else { continue }
      // `info` is not a number.
      if let next = text.dropFirst(expected.count).first, isLetter(next) { return nil }
      return (expected.count, value)
    }
    return nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte >= 0x80
  }
}
