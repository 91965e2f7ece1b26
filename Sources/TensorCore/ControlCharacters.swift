extension String {
  /// The text with control characters made visible, `\u{1b}`, so that text from a file cannot control a
  /// terminal: C0, C1, and those that change the direction of writing.
  ///
  /// - Parameter keepingLines: whether line breaks and tabs stay. In a name they could forge a line.
  package func escapingControls(keepingLines: Bool = false) -> String {
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x0A where keepingLines, 0x09 where keepingLines: result.append(scalar)
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069:
        result += "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
