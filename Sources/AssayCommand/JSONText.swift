/// JSON on one line, in insertion order. Numbers that JSON cannot represent become the strings
/// `"NaN"`, `"Infinity"` and `"-Infinity"`.
indirect enum JSONText: ExpressibleByDictionaryLiteral {
  case null
  /// Marks a member to omit.
  case absent
  case bool(Bool)
  case int(Int)
  /// Seventeen significant digits identify a 64-bit float, nine a 32-bit one.
  case number(Double, digits: Int = 17)
  case fixed(Double, decimals: Int)
  case floats([Float])
  case string(String)
  case array([JSONText])
  case members([(String, JSONText)])
  /// A value as it was read.
  case value(JSONValue)

  /// The version of the formats in `docs/json.md`.
  static let version = 1

  init(dictionaryLiteral members: (String, any ResultValue)...) {
    self = .members(members.map { ($0, $1.json) })
  }

  /// An object with the version as its last member: one line of a command's output.
  static func versioned(_ object: JSONText) -> JSONText { object + ["version": version] }

  /// Concatenates the members of two objects.
  static func + (first: JSONText, second: JSONText) -> JSONText {
    guard case .members(let a) = first, case .members(let b) = second else { return first }
    return .members(a + b)
  }

  var text: String {
    switch self {
    case .null, .absent: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .number(let value, let digits):
      NumberText.jsonString(value) ?? numberText(value, digits: digits)
    case .fixed(let value, let decimals):
      NumberText.jsonString(value) ?? fixedText(value, decimals: decimals)
    case .floats(let values): "[" + values.map(\.json.text).joined(separator: ", ") + "]"
    case .string(let value): JSONValue.quoted(value)
    case .value(let value): value.text
    case .array(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
    case .members(let pairs):
      "{"
        + pairs.compactMap { name, value in
          if case .absent = value { nil } else { "\(JSONValue.quoted(name)): \(value.text)" }
        }.joined(separator: ", ") + "}"
    }
  }
}
