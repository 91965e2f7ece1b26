/// JSON on one line, in insertion order. Numbers that JSON cannot represent are the strings
/// `"NaN"`, `"Infinity"` and `"-Infinity"`.
indirect enum JSONText {
  case null
  case bool(Bool)
  case int(Int)
  /// Seventeen significant digits identify a 64-bit float, nine a 32-bit one.
  case number(Double, digits: Int = 17)
  case fixed(Double, decimals: Int)
  case floats([Float])
  case string(String)
  case array([JSONText])
  case members([(String, JSONText)])
  /// The value as it was read.
  case value(JSONValue)

  /// The version of the formats in `docs/json.md`.
  static let version = 1

  /// An object with the version at its end: one line of a command's output.
  static func versioned(_ pairs: [(String, JSONText)]) -> JSONText {
    .members(pairs + [("version", .int(version))])
  }

  static func versioned(_ pairs: KeyValuePairs<String, JSONText>) -> JSONText {
    versioned(pairs.map { ($0, $1) })
  }

  static func object(_ pairs: KeyValuePairs<String, JSONText>) -> JSONText {
    .members(pairs.map { ($0, $1) })
  }

  static func list<Items: Sequence>(
    _ items: Items, _ text: (Items.Element) -> JSONText
  ) -> JSONText {
    .array(items.map(text))
  }

  static func ints(_ values: [Int]) -> JSONText { .array(values.map(JSONText.int)) }
  static func strings(_ values: [String]) -> JSONText { .array(values.map(JSONText.string)) }
  static func optional(_ value: String?) -> JSONText { value.map(JSONText.string) ?? .null }
  static func float(_ value: Float) -> JSONText { .number(Double(value), digits: 9) }

  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .number(let value, let digits):
      NumberText.jsonString(value) ?? numberText(value, digits: digits)
    case .fixed(let value, let decimals):
      NumberText.jsonString(value) ?? fixedText(value, decimals: decimals)
    case .floats(let values):
      "[" + values.map { Self.float($0).text }.joined(separator: ", ") + "]"
    case .string(let value): JSONValue.quoted(value)
    case .value(let value): value.text
    case .array(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
    case .members(let pairs):
      "{" + pairs.map { "\(JSONValue.quoted($0.0)): \($0.1.text)" }.joined(separator: ", ") + "}"
    }
  }
}
