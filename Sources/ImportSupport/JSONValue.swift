import ByteFormats

/// A JSON document that keeps the order of its members and tells `1` from `1.0`.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int(Int)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// Members in file order. Of members with the same name the last one counts, as in Python.
package struct JSONObject: Sendable, Equatable {
  package private(set) var members: [(name: String, value: JSONValue)] = []
  private var positions: [String: Int] = [:]

  package init() {}

  package var names: [String] { members.map(\.name) }

  package subscript(name: String) -> JSONValue? {
    get { positions[name].map { members[$0].value } }
    set {
      guard let newValue else { return }
      if let position = positions[name] {
        members[position].value = newValue
      } else {
        positions[name] = members.count
        members.append((name, newValue))
      }
    }
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

  /// A whole number, also where it is written with a point.
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

  /// The document as text on one line, numbers as short as they can be.
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

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\\(scalar)"
      case "\n": text += "\\n"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
