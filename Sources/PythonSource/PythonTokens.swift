import TensorCore

struct PythonToken: Sendable {
  enum Kind: Sendable { case name, number, string, symbol, newline, indent, dedent, end }

  var kind: Kind
  /// The text of the token; for a string, the text between the quotes.
  var text: String
  var position: PythonPosition
  /// The letters before a string's quotes, in lowercase.
  var prefix = ""
}

/// The tokens of a source file.
struct PythonTokens {
  static let byteLimit = 1 << 21
  static let tokenLimit = 1 << 17
  static let indentLimit = 40

  private let text: [UInt8]
  private var next = 0
  private var line: Int
  private var lineStart: Int
  private let firstColumn: Int
  private var brackets = 0
  private(set) var tokens: [PythonToken] = []

  /// - Parameter isExpression: whether the text is one expression; it may span lines.
  init(_ text: [UInt8], at position: PythonPosition, isExpression: Bool = false) throws {
    self.text = text
    line = position.line
    firstColumn = position.column
    lineStart = 0
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { next = 3 }
    if isExpression { brackets = 1 }
    var indents = [0]
    var startsLine = !isExpression
    while next < text.count {
      if startsLine {
        let indent = try indentation()
        guard next < text.count else { break }
        if "\r\n#".utf8.contains(text[next]) {
          skipLine()
          continue
        }
        startsLine = false
        if indent > indents[indents.count - 1] {
          indents.append(indent)
          try require(
            indents.count <= Self.indentLimit, .limitExceeded, "\(here): it is nested too deeply")
          try add(.indent, "", here)
        }
        while indent < indents[indents.count - 1] {
          indents.removeLast()
          try add(.dedent, "", here)
        }
        guard indent == indents[indents.count - 1] else { throw error("this line's indentation") }
        continue
      }
      startsLine = try token()
    }
    if let last = tokens.last, ![.newline, .dedent].contains(last.kind), !isExpression {
      try add(.newline, "", here)
    }
    for _ in indents.dropFirst() { try add(.dedent, "", here) }
    try add(.end, "", here)
  }

  private var here: PythonPosition {
    let start = lineStart == 0 ? firstColumn : 1
    return PythonPosition(line: line, column: start + next - lineStart)
  }

  private func error(_ what: String) -> ModelError {
    ModelError(.malformed, "\(here): \(what) is not Python")
  }

  private mutating func add(
    _ kind: PythonToken.Kind, _ text: String, _ position: PythonPosition, prefix: String = ""
  ) throws {
    try require(tokens.count < Self.tokenLimit, .limitExceeded, "\(here): it is too long")
    tokens.append(PythonToken(kind: kind, text: text, position: position, prefix: prefix))
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    next + offset < text.count ? text[next + offset] : 0
  }

  private mutating func indentation() throws -> Int {
    var width = 0
    while next < text.count {
      switch text[next] {
      case UInt8(ascii: " "): width += 1
      case UInt8(ascii: "\t"): width = (width / 8 + 1) * 8
      case 0x0C: width = 0
      default: return width
      }
      next += 1
    }
    return width
  }

  private mutating func skipLine() {
    while next < text.count, text[next] != 0x0A { next += 1 }
    endLine()
  }

  /// Moves to the start of the next line.
  private mutating func endLine() {
    if next < text.count { next += 1 }
    line += 1
    lineStart = next
  }

  /// Reads one token; returns true at the end of a line.
  private mutating func token() throws -> Bool {
    let start = next
    let position = here
    let first = text[next]
    switch first {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0C, 0x0D: next += 1
    case 0x0A:
      if brackets == 0 { try add(.newline, "", position) }
      endLine()
      return brackets == 0
    case UInt8(ascii: "#"):
      while next < text.count, text[next] != 0x0A { next += 1 }
    case UInt8(ascii: "\\"):
      next += 1
      if byte() == 0x0D { next += 1 }
      guard byte() == 0x0A, next < text.count else { throw error("'\\'") }
      endLine()
    case UInt8(ascii: "0")...UInt8(ascii: "9"): try number(position)
    case UInt8(ascii: "."):
      if (0x30...0x39).contains(byte(1)) { try number(position) } else { try symbol(position) }
    case UInt8(ascii: "\""), UInt8(ascii: "'"): try string("", position)
    case _ where Self.isNamePart(first):
      while next < text.count, Self.isNamePart(text[next]) { next += 1 }
      let name = String(decoding: text[start..<next], as: UTF8.self)
      if byte() == UInt8(ascii: "'") || byte() == UInt8(ascii: "\""), name.utf8.count <= 2,
        name.lowercased().allSatisfy({ "rbuft".contains($0) })
      {
        try string(name.lowercased(), position)
      } else {
        try add(.name, name, position)
      }
    case 0x80...:
      throw ModelError(.unsupported, "\(position): only ASCII letters are read in names")
    default: try symbol(position)
    }
    return false
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
    default: false
    }
  }

  private mutating func number(_ position: PythonPosition) throws {
    let start = next
    var isExponent = false
    while next < text.count {
      let byte = text[next]
      if byte == 0x2B || byte == 0x2D {
        guard isExponent else { break }
      } else if !Self.isNamePart(byte), byte != UInt8(ascii: ".") {
        break
      }
      let isHexadecimal = next > start + 1 && text[start + 1] | 0x20 == UInt8(ascii: "x")
      isExponent = byte | 0x20 == UInt8(ascii: "e") && !isHexadecimal
      next += 1
    }
    try add(.number, String(decoding: text[start..<next], as: UTF8.self), position)
  }

  /// Reads a string up to its closing quote. In an f-string's braces, quotes start nested strings.
  private mutating func string(_ prefix: String, _ position: PythonPosition) throws {
    let quote = text[next]
    let isTriple = byte(1) == quote && byte(2) == quote
    let length = isTriple ? 3 : 1
    next += length
    let start = next
    var braces = 0
    while true {
      let byte = self.byte()
      guard next < text.count, byte != 0x0A || isTriple || braces > 0 else {
        throw ModelError(.malformed, "\(position): a string without an end is not Python")
      }
      if byte == 0x0A {
        endLine()
        continue
      }
      if byte == UInt8(ascii: "\\") {
        next += 1
        if next < text.count, text[next] == 0x0A { endLine() } else { next += 1 }
        continue
      }
      let ends =
        byte == quote && (!isTriple || self.byte(1) == quote && self.byte(2) == quote)
      if braces == 0, ends { break }
      if prefix.contains("f") {
        if byte == UInt8(ascii: "{") {
          if self.byte(1) == byte, braces == 0 { next += 1 } else { braces += 1 }
        } else if byte == UInt8(ascii: "}"), braces > 0 {
          braces -= 1
        } else if braces > 0, byte == 0x22 || byte == 0x27 {
          next += 1
          while next < text.count, text[next] != byte, text[next] != 0x0A { next += 1 }
        }
      }
      next += 1
    }
    let content = String(decoding: text[start..<next], as: UTF8.self)
    next += length
    try add(.string, content, position, prefix: prefix)
  }

  private static let symbols: [[String]] = [
    ["**=", "//=", ">>=", "<<=", "..."],
    [
      "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "<>", "->", "+=", "-=", "*=", "/=", "%=",
      "&=", "|=", "^=", "@=", ":=",
    ],
  ]

  private mutating func symbol(_ position: PythonPosition) throws {
    let isLong = "=>*/<.".utf8.contains(byte(1))
    for (length, symbols) in zip([3, 2], Self.symbols) where isLong && next + length <= text.count {
      let word = String(decoding: text[next..<next + length], as: UTF8.self)
      guard symbols.contains(word) else { continue }
      next += length
      return try add(.symbol, word, position)
    }
    let byte = text[next]
    let character = String(Character(Unicode.Scalar(byte)))
    guard "()[]{},:;.=+-*/%@&|^~<>`".utf8.contains(byte) else { throw error("'\(character)'") }
    if "([{".utf8.contains(byte) { brackets += 1 }
    if ")]}".utf8.contains(byte) { brackets = max(0, brackets - 1) }
    next += 1
    try add(.symbol, character, position)
  }
}

extension PythonPosition: CustomStringConvertible {
  package var description: String { "line \(line), column \(column)" }
}
