extension String {
  /// The text with control characters made visible, `\u{1b}`, so that text from a file cannot control a
  /// terminal: C0, C1, and those that change the direction of writing.
  ///
  /// - Parameter keepingLines: whether line breaks and tabs stay. In a name they could forge a line.
  package func escapingControls(keepingLines: Bool = false) -> String {
    // Most texts have none; these bytes begin all that could be one.
    let isPlain = utf8.allSatisfy {
      $0 >= 0x20 && $0 != 0x7F && ![0xC2, 0xD8, 0xE2].contains($0)
        || keepingLines && ($0 == 0x0A || $0 == 0x09)
    }
    if isPlain { return self }
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x0A where keepingLines, 0x09 where keepingLines: result.append(scalar)
      case _ where scalar.isControl:
        result += "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

extension Unicode.Scalar {
  /// Whether it controls a terminal or the direction of writing, or separates lines.
  package var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
