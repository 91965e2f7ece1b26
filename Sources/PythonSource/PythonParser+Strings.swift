import TensorCore

extension PythonParser {
  /// Adjacent strings, which are concatenated.
  mutating func strings() throws -> PythonExpression {
    let position = token.position
    var parts: [(value: PythonExpression, format: String)] = []
    var text = ""
    func end(_ text: inout String) throws {
      if !text.isEmpty { parts.append((try node(.string(text), position), "")) }
      text = ""
    }
    while token.kind == .string {
      let word = take()
      if word.prefix.contains("b") || word.prefix.contains("t") {
        return try node(.unsupported("a string of bytes"), position)
      }
      guard word.prefix.contains("f") else {
        text += try plain(word.text, word)
        continue
      }
      var rest = Substring(word.text)
      while let cut = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
        text += try plain(String(rest[..<cut]), word)
        let after = rest.index(after: cut)
        if after < rest.endIndex, rest[after] == rest[cut] {
          text.append(rest[cut])
          rest = rest[rest.index(after: after)...]
          continue
        }
        guard rest[cut] == "{" else {
          throw ModelError(.malformed, "\(word.position): '}' without '{' in a string")
        }
        try end(&text)
        rest = rest[after...]
        parts.append(try formatted(&rest, word))
      }
      text += try plain(String(rest), word)
    }
    if parts.isEmpty { return try node(.string(text), position) }
    try end(&text)
    return try node(.formatted(parts), position, parts.map(\.value))
  }

  /// The expression in braces, and the format that follows it.
  private func formatted(
    _ rest: inout Substring, _ word: PythonToken
  ) throws -> (value: PythonExpression, format: String) {
    var depth = 0
    var quote: Character?
    var index = rest.startIndex
    var previous: Character = " "
    loop: while true {
      guard index < rest.endIndex else {
        throw ModelError(.malformed, "\(word.position): '{' without '}' in a string")
      }
      let character = rest[index]
      if let open = quote {
        if character == open { quote = nil }
      } else {
        switch character {
        case "'", "\"": quote = character
        case "(", "[", "{": depth += 1
        case ")", "]": depth -= 1
        case "}":
          if depth == 0 { break loop }
          depth -= 1
        case ":": if depth == 0 { break loop }
        case "!":
          let after = rest.index(after: index)
          if depth == 0, after < rest.endIndex, rest[after] != "=" { break loop }
        case "=":
          let after = rest.index(after: index)
          let ends = after < rest.endIndex && "}:!".contains(rest[after])
          if depth == 0, ends, !"=!<>".contains(previous) {
            throw ModelError(.unsupported, "\(word.position): '=}' in a string is not supported")
          }
        default: break
        }
      }
      previous = character
      index = rest.index(after: index)
    }
    let value = try inner(String(rest[..<index]), word.position)
    guard let close = rest[index...].firstIndex(of: "}") else {
      throw ModelError(.malformed, "\(word.position): '{' without '}' in a string")
    }
    let format = String(rest[index..<close])
    rest = rest[rest.index(after: close)...]
    return (value, format)
  }

  private static let escapes: [Character: String] = [
    "n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", "\"": "\"", "a": "\u{7}", "b": "\u{8}",
    "f": "\u{C}", "v": "\u{B}", "\n": "", "\r\n": "",
  ]

  private func plain(_ text: String, _ word: PythonToken) throws -> String {
    guard text.contains("\\"), !word.prefix.contains("r") else { return text }
    var result = ""
    var rest = Substring(text)
    while let first = rest.popFirst() {
      guard first == "\\", let kind = rest.popFirst() else {
        result.append(first)
        continue
      }
      if let escape = Self.escapes[kind] {
        result += escape
        continue
      }
      let width = ["x": 2, "u": 4, "U": 8][kind]
      let digits: Substring
      if let width {
        digits = rest.prefix(width)
        rest = rest.dropFirst(width)
      } else if kind.isASCII, kind.isWholeNumber {
        let more = rest.prefix(2).prefix { $0.isASCII && $0.isWholeNumber }
        digits = "\(kind)" + more
        rest = rest.dropFirst(more.count)
      } else {
        // Other escape sequences are kept as written, but character names are unsupported.
        if kind == "N" {
          throw ModelError(.unsupported, "\(word.position): '\\N' in a string is not supported")
        }
        result += "\\\(kind)"
        continue
      }
      guard let code = UInt32(digits, radix: width == nil ? 8 : 16),
        let scalar = Unicode.Scalar(code)
      else { throw ModelError(.malformed, "\(word.position): a string has an unknown escape") }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}
