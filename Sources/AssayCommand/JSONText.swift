/// JSON on one line, in the order in which it was put together. Numbers that JSON has no word for
/// are `NaN`, `Infinity` and `-Infinity`, as Python reads and writes them.
indirect enum JSONText {
  case null
  case bool(Bool)
  case int(Int)
  case number(Double)
  /// Nine digits, which name a 32-bit float.
  case floats([Float])
  case string(String)
  /// A number that has been written already.
  case literal(String)
  case array([JSONText])
  case object([(String, JSONText)])

  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .number(let value): numberText(value, digits: 17)
    case .floats(let values):
      "[" + values.map { numberText(Double($0)) }.joined(separator: ", ") + "]"
    case .string(let value): Self.quoted(value)
    case .literal(let text): text
    case .array(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
    case .object(let pairs):
      "{" + pairs.map { "\(Self.quoted($0.0)): \($0.1.text)" }.joined(separator: ", ") + "}"
    }
  }

  private static func quoted(_ value: String) -> String {
    var result = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
