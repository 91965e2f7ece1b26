import LibC

/// `value` with `digits` significant digits, like C's `%.*g`.
func numberText(_ value: Double, digits: Int = 9) -> String {
  if let word = NumberText.word(value) { return word }
  return formatted("%.*g", digits, value)
}

/// `value` with `decimals` digits after the decimal point.
func fixedText(_ value: Double, decimals: Int) -> String {
  if !value.isFinite { return numberText(value) }
  return formatted("%.*f", decimals, value)
}

private func formatted(_ format: String, _ digits: Int, _ value: Double) -> String {
  withVaList([Int32(digits), value]) { arguments in
    var buffer = [CChar](repeating: 0, count: 400)
    vsnprintf(&buffer, buffer.count, format, arguments)
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension String {
  func padded(to width: Int) -> String {
    count >= width ? self : self + String(repeating: " ", count: width - count)
  }

  func leftPadded(to width: Int) -> String {
    count >= width ? self : String(repeating: " ", count: width - count) + self
  }
}
