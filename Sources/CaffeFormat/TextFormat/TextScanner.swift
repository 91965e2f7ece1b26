/// Splits protobuf text into tokens.
struct TextScanner {
  enum Token: Equatable {
    case word(String)
    /// A number without its sign, as written.
    case number(String)
    case string([UInt8])
    case symbol(UInt8)
    case end
  }

  private let text: [UInt8]
  private var index = 0
  private var line = 1
  private var lineStart = 0
  /// The next token and its position.
  private(set) var next = Token.end
  private(set) var position = TextPosition(line: 1, column: 1)

  init(_ text: [UInt8]) throws {
    self.text = text
    if text.starts(with: [0xEF, 0xBB, 0xBF]) {
      index = 3
      lineStart = 3
    }
    next = try scan()
  }

  /// Consumes the next token.
  @discardableResult
  mutating func take() throws -> Token {
    let token = next
    next = try scan()
    return token
  }

  /// Consumes the next token if it is this symbol.
  mutating func accept(_ symbol: Character) throws -> Bool {
    guard let byte = symbol.asciiValue, next == .symbol(byte) else { return false }
    try take()
    return true
  }

  func error(_ message: String, at start: TextPosition? = nil, hint: String? = nil) -> ModelError {
    ModelError(.malformed, "\(start ?? position): \(message)", hint: hint)
  }

  /// The next token, in words.
  var found: String {
    switch next {
    case .word(let text), .number(let text): "'\(text.prefix(40))'"
    case .string: "a string"
    case .symbol(let byte): "'\(UnicodeScalar(byte))'"
    case .end: "the end of the file"
    }
  }

  private var here: TextPosition { TextPosition(line: line, column: index - lineStart + 1) }

  private mutating func scan() throws -> Token {
    skipBlanks()
    position = here
    guard index < text.count else { return .end }
    let byte = text[index]
    switch byte {
    case _ where Self.isLetter(byte): return .word(text(while: Self.isWordByte))
    case _ where Self.isDigit(byte): return number()
    case UInt8(ascii: ".") where index + 1 < text.count && Self.isDigit(text[index + 1]):
      return number()
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string(byte))
    default:
      guard (0x20..<0x7F).contains(byte) else {
        throw error(
          "byte \(byte) is not text",
          hint: "a .prototxt is text; pass a .caffemodel alone or after a .prototxt")
      }
      index += 1
      return .symbol(byte)
    }
  }

  private mutating func skipBlanks() {
    while index < text.count {
      switch text[index] {
      case 0x0A:
        index += 1
        line += 1
        lineStart = index
      case 0x20, 0x09, 0x0B, 0x0C, 0x0D: index += 1
      case UInt8(ascii: "#"):
        while index < text.count, text[index] != 0x0A { index += 1 }
      default: return
      }
    }
  }

  private mutating func text(while belongs: (UInt8) -> Bool) -> String {
    let start = index
    while index < text.count, belongs(text[index]) { index += 1 }
    return String(decoding: text[start..<index], as: UTF8.self)
  }

  /// Scans digits, a decimal point and an exponent with its sign; a suffix `f` and hexadecimal
  /// digits count as letters.
  private mutating func number() -> Token {
    let start = index
    let isHexadecimal =
      text[index] == UInt8(ascii: "0") && index + 1 < text.count
      && text[index + 1] | 0x20 == UInt8(ascii: "x")
    while index < text.count {
      let byte = text[index]
      let isSign = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      let followsExponent =
        !isHexadecimal && index > start && text[index - 1] | 0x20 == UInt8(ascii: "e")
      guard Self.isWordByte(byte) || byte == UInt8(ascii: ".") || isSign && followsExponent else {
        break
      }
      index += 1
    }
    return .number(String(decoding: text[start..<index], as: UTF8.self))
  }

  private mutating func string(_ quote: UInt8) throws -> [UInt8] {
    let start = here
    var bytes: [UInt8] = []
    index += 1
    while index < text.count {
      let byte = text[index]
      index += 1
      switch byte {
      case quote: return bytes
      case UInt8(ascii: "\\"): try escape(&bytes)
      case 0x0A: throw error("a string does not end on its line", at: start)
      default: bytes.append(byte)
      }
    }
    throw error("a string does not end", at: start)
  }

  /// Decodes an escape sequence after its backslash.
  private mutating func escape(_ bytes: inout [UInt8]) throws {
    let start = TextPosition(line: line, column: index - lineStart)
    guard index < text.count else { throw error("a string does not end", at: start) }
    let byte = text[index]
    index += 1
    switch byte {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "a"): bytes.append(0x07)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "v"): bytes.append(0x0B)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "?"):
      bytes.append(byte)
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      index -= 1
      bytes.append(UInt8(truncatingIfNeeded: try digits(1...3, radix: 8, start)))
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      bytes.append(UInt8(truncatingIfNeeded: try digits(1...2, radix: 16, start)))
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      let count = byte == UInt8(ascii: "u") ? 4 : 8
      let value = try digits(count...count, radix: 16, start)
      bytes += Array(String(UnicodeScalar(value) ?? "\u{FFFD}").utf8)
    default: throw error("a string contains an unknown escape sequence", at: start)
    }
  }

  private mutating func digits(
    _ count: ClosedRange<Int>, radix: Int, _ start: TextPosition
  ) throws -> UInt32 {
    var end = index
    while end < text.count, end - index < count.upperBound,
      let digit = Character(UnicodeScalar(text[end])).hexDigitValue, digit < radix
    { end += 1 }
    guard end - index >= count.lowerBound,
      let value = UInt32(String(decoding: text[index..<end], as: UTF8.self), radix: radix)
    else { throw error("an escape sequence lacks its digits", at: start) }
    index = end
    return value
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isWordByte(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }
}
