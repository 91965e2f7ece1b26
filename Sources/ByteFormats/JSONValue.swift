import TensorCore

/// A JSON document that keeps the order of its members and distinguishes `1` from `1.0`.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int(Int)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// Members in file order. If several have the same name, the last one counts, as in Python.
package struct JSONObject: Sendable, Equatable {
  package private(set) var members: [(name: String, value: JSONValue)] = []
  /// Empty while there are few members, which are compared instead: most objects are small, and a
  /// dictionary takes more memory than their text.
  private var positions: [String: Int] = [:]
  private static let few = 8

  package init() {}

  package var names: [String] { members.map(\.name) }

  package subscript(name: String) -> JSONValue? {
    get { position(of: name).map { members[$0].value } }
    set {
      guard let newValue else { return }
      if let position = position(of: name) {
        members[position].value = newValue
        return
      }
      members.append((name, newValue))
      guard members.count > Self.few else { return }
      for position in (positions.isEmpty ? 0 : members.count - 1)..<members.count {
        positions[members[position].name] = position
      }
    }
  }

  private func position(of name: String) -> Int? {
    members.count > Self.few ? positions[name] : members.firstIndex { $0.name == name }
  }

  package static func == (a: JSONObject, b: JSONObject) -> Bool {
    a.members.count == b.members.count
      && zip(a.members, b.members).allSatisfy { $0.name == $1.name && $0.value == $1.value }
  }
}

extension JSONValue {
  package var string: String? { if case .string(let value) = self { value } else { nil } }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  package var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
  package var isNull: Bool { self == .null }

  /// The integer, even if it is written with a decimal point.
  package var int: Int? {
    switch self {
    case .int(let value): value
    case .double(let value): Int(exactly: value)
    default: nil
    }
  }

  package var double: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  /// The member `name` of an object.
  package subscript(name: String) -> JSONValue? { object?[name] }

  /// The document as text on one line, with the shortest form of each number.
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .double(let value): NumberText.jsonString(value) ?? "\(value)"
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
    case .object(let object):
      "{"
        + object.members.map { "\(Self.quoted($0.name)): \($0.value.text)" }
        .joined(separator: ", ") + "}"
    }
  }

  /// The string in quotes, with control characters escaped.
  package static func quoted(_ string: String) -> String {
    "\""
      + string.escaping { scalar in
        switch scalar {
        case "\"", "\\": return "\\\(scalar)"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
          guard scalar.isControl else { return nil }
          let digits = String(scalar.value, radix: 16)
          return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      } + "\""
  }
}

extension JSONValue {
  /// Parses UTF-8 text. `NaN`, `Infinity` and `-Infinity` are read as Python writes them.
  /// - Throws: `.malformed` with the line and column, `.limitExceeded` beyond `Limits.jsonDepth`,
  /// `Limits.jsonBytes` or `Limits.jsonValues`.
  package init(parsing bytes: [UInt8]) throws {
    try require(
      bytes.count <= Limits.jsonBytes, .limitExceeded,
      "\(bytes.count) bytes of JSON exceed the limit of \(Limits.jsonBytes)")
    self = try bytes.withUnsafeBytes { text in
      var reader = JSONReader(text, isStrict: false)
      let value = try JSONValue(from: &reader, depth: 0)
      try reader.expectEnd()
      return value
    }
  }

  package init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }

  private init(from reader: inout JSONReader, depth: Int) throws {
    try require(
      depth <= Limits.jsonDepth, .limitExceeded, "JSON nested deeper than \(Limits.jsonDepth)")
    try reader.countValue()
    switch reader.next() {
    case UInt8(ascii: "{"):
      var object = JSONObject()
      try reader.members { object[$1] = try JSONValue(from: &$0, depth: depth + 1) }
      self = .object(object)
    case UInt8(ascii: "["):
      var elements: [JSONValue] = []
      try reader.list(until: "]") { elements.append(try JSONValue(from: &$0, depth: depth + 1)) }
      self = .array(elements)
    case UInt8(ascii: "\""): self = .string(try reader.string())
    case UInt8(ascii: "t") where reader.accept("true"): self = .bool(true)
    case UInt8(ascii: "f") where reader.accept("false"): self = .bool(false)
    case UInt8(ascii: "n") where reader.accept("null"): self = .null
    case UInt8(ascii: "N") where reader.accept("NaN"): self = .double(.nan)
    case UInt8(ascii: "I") where reader.accept("Infinity"): self = .double(.infinity)
    case UInt8(ascii: "-") where reader.accept("-Infinity"): self = .double(-.infinity)
    case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?:
      self = try JSONValue(numberFrom: &reader)
    case nil: throw reader.failure("the text ends too early")
    default: throw reader.failure("no value")
    }
  }

  private init(numberFrom reader: inout JSONReader) throws {
    let rest = reader.text[reader.position...].prefix { Self.numberBytes.contains($0) }
    let digits = String(decoding: rest, as: UTF8.self)
    reader.skip(rest.count)
    if let value = Int(digits) {
      self = .int(value)
    } else if let value = Double(digits) {
      self = .double(value)
    } else {
      throw reader.failure("'\(digits)' is not a number")
    }
  }

  private static let numberBytes = Set("0123456789+-.eE".utf8)
}
