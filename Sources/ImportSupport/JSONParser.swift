import TensorCore

extension JSONValue {
  /// Parses UTF-8 text. `NaN`, `Infinity` and `-Infinity` are read as Python writes them.
  /// - Throws: `.malformed` with the line and column, `.limitExceeded` beyond `Limits.jsonDepth`
  ///   or `Limits.jsonBytes`.
  package init(parsing bytes: [UInt8]) throws {
    var parser = try JSONParser(bytes)
    self = try parser.document()
  }

  package init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }
}

private struct JSONParser {
  private let text: [UInt8]
  private var position: Int

  init(_ text: [UInt8]) throws {
    guard text.count <= Limits.jsonBytes else {
      throw ModelError(
        .limitExceeded, "\(text.count) bytes of JSON are more than the limit of \(Limits.jsonBytes)"
      )
    }
    self.text = text
    position = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  mutating func document() throws -> JSONValue {
    let result = try value(depth: 0)
    guard next() == nil else { throw failure("text after the end") }
    return result
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth <= Limits.jsonDepth else {
      throw ModelError(.limitExceeded, "JSON nested deeper than \(Limits.jsonDepth)")
    }
    switch next() {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t") where accept("true"): return .bool(true)
    case UInt8(ascii: "f") where accept("false"): return .bool(false)
    case UInt8(ascii: "n") where accept("null"): return .null
    case UInt8(ascii: "N") where accept("NaN"): return .double(.nan)
    case UInt8(ascii: "I") where accept("Infinity"): return .double(.infinity)
    case UInt8(ascii: "-") where accept("-Infinity"): return .double(-.infinity)
    case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: return try number()
    case nil: throw failure("the text ends too early")
    default: throw failure("no value")
    }
  }

  private mutating func object(depth: Int) throws -> JSONObject {
    var object = JSONObject()
    position += 1
    if next() == UInt8(ascii: "}") {
      position += 1
      return object
    }
    while true {
      guard next() == UInt8(ascii: "\"") else { throw failure("no name") }
      let name = try string()
      guard next() == UInt8(ascii: ":") else { throw failure("no colon after a name") }
      position += 1
      object[name] = try value(depth: depth + 1)
      if try ends(with: UInt8(ascii: "}")) { return object }
    }
  }

  private mutating func array(depth: Int) throws -> [JSONValue] {
    var elements: [JSONValue] = []
    position += 1
    if next() == UInt8(ascii: "]") {
      position += 1
      return elements
    }
    while true {
      elements.append(try value(depth: depth + 1))
      if try ends(with: UInt8(ascii: "]")) { return elements }
    }
  }

  /// Takes a comma (false) or `closing` (true).
  private mutating func ends(with closing: UInt8) throws -> Bool {
    switch next() {
    case closing:
      position += 1
      return true
    case UInt8(ascii: ","):
      position += 1
      return false
    default: throw failure("neither a comma nor a closing bracket")
    }
  }

  private mutating func number() throws -> JSONValue {
    let start = position
    var isInteger = true
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"): break
      case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isInteger = false
      default:
        return try number(String(decoding: text[start..<position], as: UTF8.self), isInteger)
      }
      position += 1
    }
    return try number(String(decoding: text[start...], as: UTF8.self), isInteger)
  }

  private func number(_ digits: String, _ isInteger: Bool) throws -> JSONValue {
    if isInteger, let value = Int(digits) { return .int(value) }
    guard let value = Double(digits) else { throw failure("'\(digits)' is no number") }
    return .double(value)
  }

  private mutating func string() throws -> String {
    position += 1
    var bytes: [UInt8] = []
    while position < text.count {
      let byte = text[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"): bytes += Array(try escape().utf8)
      default: bytes.append(byte)
      }
    }
    throw failure("a string without end")
  }

  /// The text of an escape sequence whose backslash has been taken.
  private mutating func escape() throws -> String {
    guard position < text.count else { throw failure("a string without end") }
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
      if (0xD800..<0xDC00).contains(unit), position + 6 <= text.count,
        text[position] == UInt8(ascii: "\\"), text[position + 1] == UInt8(ascii: "u")
      {
        position += 2
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw failure("half a surrogate pair") }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      return String(UnicodeScalar(unit) ?? "\u{FFFD}")
    default: throw failure("an unknown escape sequence")
    }
  }

  private mutating func hexadecimal() throws -> UInt32 {
    guard position + 4 <= text.count,
      let value = UInt32(
        String(decoding: text[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw failure("no four hexadecimal digits") }
    position += 4
    return value
  }

  /// The next byte that is not white space, without taking it.
  private mutating func next() -> UInt8? {
    while position < text.count {
      switch text[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return text[position]
      }
    }
    return nil
  }

  private mutating func accept(_ word: String) -> Bool {
    guard text[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private func failure(_ reason: String) -> ModelError {
    let before = text[..<min(position, text.count)]
    let line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
    let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
    return ModelError(.malformed, "not JSON: \(reason) at line \(line), column \(column)")
  }
}
