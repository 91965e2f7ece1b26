extension String {
  /// Replaces every scalar that has a replacement. All escaping must go through here: a quote
  /// followed by a combining mark is one `Character`, but the quote must still be escaped.
  package func escaping(_ replacement: (Unicode.Scalar) -> String?) -> String {
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let text = replacement(scalar) {
        result += text.unicodeScalars
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  /// The text in double quotes, as in DOT and MIL; control characters are made visible.
  package var inQuotes: String { "\"\(escapingQuotes)\"" }

  package var escapingQuotes: String {
    escapingControls().escaping { $0 == "\"" || $0 == "\\" ? "\\\($0)" : nil }
  }

  /// The text as one word of a POSIX shell; control characters are made visible.
  package var shellWord: String {
    let isPlain = unicodeScalars.allSatisfy {
      switch $0 {
      case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ":": true
      default: false
      }
    }
    return isPlain && !isEmpty
      ? self : "'" + escapingControls().escaping { $0 == "'" ? "'\\''" : nil } + "'"
  }

  /// The text with control characters made visible, as `\u{1b}`, so that text from a file cannot
  /// control a terminal: C0, C1, line separators and those that change the writing direction.
  ///
  /// - Parameter keepingLines: whether line breaks and tabs stay. In a name they could forge a line.
  package func escapingControls(keepingLines: Bool = false) -> String {
    // Most texts have none; in UTF-8, all control characters start with these bytes.
    let isPlain = utf8.allSatisfy {
      $0 >= 0x20 && $0 != 0x7F && ![0xC2, 0xD8, 0xE2].contains($0)
        || keepingLines && ($0 == 0x0A || $0 == 0x09)
    }
    if isPlain { return self }
    return escaping { scalar in
      guard scalar.isControl, !keepingLines || scalar != "\n" && scalar != "\t" else { return nil }
      return scalar.escape
    }
  }
}

extension Unicode.Scalar {
  /// The scalar as an escape sequence in Swift.
  package var escape: String { "\\u{\(String(value, radix: 16))}" }

  /// Whether the scalar controls a terminal or the writing direction, or separates lines.
  package var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
