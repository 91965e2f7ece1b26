import TensorCore

/// Splits JSON text into punctuation, words and strings. What a document means is up to the caller.
struct JSONReader {
  let text: UnsafeRawBufferPointer
  private(set) var position: Int
  /// Whether strings with invalid UTF-8, control characters or unpaired surrogates are errors.
  /// Python writes and reads such strings; unless strict, they become U+FFFD or are kept.
  private let isStrict: Bool
  private var values = 0

  init(_ text: UnsafeRawBufferPointer, isStrict: Bool) {
    self.text = text
    self.isStrict = isStrict
    position = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  // MARK: Marks and words

  /// The next byte that is not white space, without consuming it.
  mutating func next() -> UInt8? {
    while position < text.count {
      let byte = text[position]
      if byte != 0x20, byte != 0x0A, byte != 0x0D, byte != 0x09 { return byte }
      position += 1
    }
    return nil
  }

  /// Counts a value that takes much more memory than its text.
  mutating func countValue() throws {
    values += 1
    try require(
      values <= Limits.jsonValues, .limitExceeded,
      "the JSON has more than \(Limits.jsonValues) values")
  }

  /// Skips bytes that the caller has already read.
  mutating func skip(_ count: Int) { position += count }

  mutating func accept(_ word: StaticString) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard text[position...].starts(with: bytes) else { return false }
    position += bytes.count
    return true
  }

  mutating func expectEnd() throws {
    guard next() == nil else { throw failure("text after the end") }
  }

  /// Reads an opening bracket, elements separated by commas, each read by `element`, and the
  /// closing bracket.
  mutating func list(
    until end: Unicode.Scalar, _ element: (inout JSONReader) throws -> Void
  ) throws {
    position += 1
    if next() == UInt8(ascii: end) {
      position += 1
      return
    }
    while true {
      try element(&self)
      let mark = next()
      guard mark == UInt8(ascii: ",") || mark == UInt8(ascii: end) else {
        throw failure("expected a comma or a closing bracket")
      }
      position += 1
      if mark == UInt8(ascii: end) { return }
    }
  }

  /// Reads an object; `member` receives a name and reads its value.
  mutating func members(_ member: (inout JSONReader, String) throws -> Void) throws {
    try list(until: "}") { reader in
      guard reader.next() == UInt8(ascii: "\"") else { throw reader.failure("no name") }
      let name = try reader.string()
      guard reader.next() == UInt8(ascii: ":") else {
        throw reader.failure("expected a colon after a name")
      }
      reader.position += 1
      try member(&reader, name)
    }
  }

  // MARK: Strings

  /// Reads a string; `next()` is the opening quote.
  mutating func string() throws -> String {
    position += 1
    var bytes: [UInt8] = []
    while position < text.count {
      let byte = text[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard isStrict else { return String(decoding: bytes, as: UTF8.self) }
        guard let string = String(validating: bytes, as: UTF8.self) else {
          throw failure("a string that is not UTF-8")
        }
        return string
      case UInt8(ascii: "\\"): bytes += try escape().utf8
      case 0..<0x20 where isStrict: throw failure("a control character in a string")
      default: bytes.append(byte)
      }
    }
    throw failure("a string is not closed")
  }

  /// The text of an escape sequence whose backslash has been consumed.
  private mutating func escape() throws -> String {
    guard position < text.count else { throw failure("a string is not closed") }
    let byte = text[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return String(UnicodeScalar(byte))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      var unit = try hexadecimal()
      if (0xD800..<0xDC00).contains(unit), accept("\\u") {
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw failure("an incomplete surrogate pair") }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      if let scalar = UnicodeScalar(unit) { return String(scalar) }
      guard !isStrict else { throw failure("an incomplete surrogate pair") }
      return "\u{FFFD}"
    default: throw failure("an unknown escape sequence")
    }
  }

  private mutating func hexadecimal() throws -> UInt32 {
    guard position + 4 <= text.count,
      let value = UInt32(
        String(decoding: text[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw failure("expected four hexadecimal digits") }
    position += 4
    return value
  }

  // MARK: Errors

  func failure(_ reason: String) -> ModelError { error("not JSON: \(reason)") }

  /// An error at the current position.
  func error(_ message: String, _ code: ModelError.Code = .malformed) -> ModelError {
    let before = text[..<min(position, text.count)]
    let line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
    let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
    return ModelError(code, "\(message) at line \(line), column \(column)")
  }
}
