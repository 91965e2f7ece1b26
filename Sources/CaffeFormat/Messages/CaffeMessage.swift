/// One value of a field of a protobuf message.
package enum CaffeValue: Sendable {
  case integer(Int)
  /// A single- or double-precision number; single precision keeps the 32 bits of the file.
  case number(Double)
  case bool(Bool)
  case string(String)
  case bytes(Bytes)
  /// An enumeration value, with only its number if the schema has no name for it; or any bare word
  /// in an unknown field.
  case symbol(String, Int?)
  case message(CaffeMessage)
  /// Values of a repeated field, little-endian, 4 or 8 bytes each, in place in the file.
  case floats(Bytes)
  case doubles(Bytes)
}

/// A position in a text.
package struct TextPosition: Sendable, Equatable, CustomStringConvertible {
  package var line: Int
  package var column: Int

  package var description: String { "line \(line), column \(column)" }
}

/// A protobuf message with fields by name, in file order, including unknown fields.
package struct CaffeMessage: Sendable {
  package struct Field: Sendable {
    /// The name; for an unknown field of a binary message, `#` and its number.
    package var name: String
    /// Nil if the schema lacks the field.
    package var type: FieldType?
    package var values: [CaffeValue]
    /// The position of the field's first occurrence in a text.
    package var position: TextPosition?
  }

  /// Nil for a message in an unknown field.
  package let type: MessageType?
  package private(set) var fields: [Field] = []
  /// Empty while there are few fields, which are compared instead.
  private var indices: [String: Int] = [:]
  private static let few = 8

  package init(_ type: MessageType?) { self.type = type }

  /// The field, if the message has it.
  package subscript(name: String) -> Field? { index(of: name).map { fields[$0] } }

  package func has(_ name: String) -> Bool { index(of: name) != nil }

  private func index(of name: String) -> Int? {
    fields.count > Self.few ? indices[name] : fields.firstIndex { $0.name == name }
  }

  /// Adds a value to a repeated field, or replaces the value of another field.
  package mutating func add(
    _ value: CaffeValue, to name: String, type: FieldType? = nil, at position: TextPosition? = nil
  ) {
    guard let index = index(of: name) else {
      fields.append(
        Field(name: name, type: type ?? self.type?[name], values: [value], position: position))
      noteIndices(from: indices.isEmpty ? 0 : fields.count - 1)
      return
    }
    if fields[index].type?.isRepeated == false { fields[index].values.removeAll() }
    fields[index].values.append(value)
  }

  /// Sets all values of a field; an empty list removes it.
  package mutating func set(_ name: String, _ values: [CaffeValue]) {
    remove(name)
    for value in values { add(value, to: name) }
  }

  package mutating func remove(_ name: String) {
    guard let index = index(of: name) else { return }
    fields.remove(at: index)
    indices = [:]
    noteIndices(from: 0)
  }

  private mutating func noteIndices(from first: Int) {
    guard fields.count > Self.few else { return }
    for index in first..<fields.count { indices[fields[index].name] = index }
  }

  /// The values of a field; if it is missing, the schema's default.
  package func values(_ name: String) -> [CaffeValue] {
    if let field = self[name] { return field.values }
    guard let type = type?[name], !type.isRepeated, let standard = type.standard else { return [] }
    return [standard]
  }

  /// The last value of a field, or its default.
  package func value(_ name: String) -> CaffeValue? { values(name).last }

  package func message(_ name: String) -> CaffeMessage? { self[name]?.values.last?.message }
  package func messages(_ name: String) -> [CaffeMessage] { values(name).compactMap(\.message) }
  package func string(_ name: String) -> String? { value(name)?.string }
  package func strings(_ name: String) -> [String] { values(name).compactMap(\.string) }
  package func integer(_ name: String) -> Int? { value(name)?.integer }
  package func bool(_ name: String) -> Bool? { value(name)?.bool }
  package func number(_ name: String) -> Double? { value(name)?.number }
  package func symbol(_ name: String) -> String? { value(name)?.symbol }

  /// Fields that the schema lacks.
  package var unknownFields: [Field] { fields.filter { $0.type == nil } }
}

extension CaffeValue {
  package var message: CaffeMessage? { if case .message(let value) = self { value } else { nil } }

  package var string: String? {
    switch self {
    case .string(let value): value
    case .bytes(let bytes): String(decoding: bytes.array(of: UInt8.self), as: UTF8.self)
    default: nil
    }
  }

  package var integer: Int? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .symbol(let word, nil):
      [
        "inf": Double.infinity, "infinity": .infinity, "-inf": -.infinity, "-infinity": -.infinity,
        "nan": .nan, "-nan": .nan,
      ][word.lowercased()]
    default: nil
    }
  }

  package var bool: Bool? {
    switch self {
    case .bool(let value): value
    case .integer(0): false
    case .integer(1): true
    case .symbol("true", nil), .symbol("True", nil), .symbol("t", nil): true
    case .symbol("false", nil), .symbol("False", nil), .symbol("f", nil): false
    default: nil
    }
  }

  package var symbol: String? {
    switch self {
    case .symbol(let name, _): name
    case .string(let name): name
    default: nil
    }
  }

  /// The numbers in the value; nil if it is not numeric.
  package var numbers: [Double]? {
    switch self {
    case .floats(let bytes): bytes.array(of: Float.self).map(Double.init)
    case .doubles(let bytes): bytes.array(of: Double.self)
    default: number.map { [$0] }
    }
  }

  /// The value in text format, on one line and truncated if long.
  package var text: String {
    switch self {
    case .integer(let value): "\(value)"
    case .number(let value): Int(exactly: value).map { "\($0)" } ?? "\(Float(value))"
    case .bool(let value): "\(value)"
    case .string(let value): "\"\(value.prefix(100))\""
    case .bytes(let bytes): "\(bytes.count) bytes"
    case .symbol(let name, _): name
    case .message(let message): message.text
    case .floats(let bytes): "\(bytes.count / 4) numbers"
    case .doubles(let bytes): "\(bytes.count / 8) numbers"
    }
  }
}

extension CaffeMessage {
  /// The fields on one line.
  package var text: String {
    "{ "
      + fields.map { field in
        field.values.map { value in
          if case .message = value {
            "\(field.name) \(value.text)"
          } else {
            "\(field.name): \(value.text)"
          }
        }.joined(separator: " ")
      }.joined(separator: " ") + " }"
  }
}

extension CaffeMessage {
  /// The message in a field, or an empty one of the field's type, with the schema's defaults.
  package func messageOrDefaults(_ field: String) -> CaffeMessage {
    if let message = message(field) { return message }
    if case .message(let inner)? = type?[field]?.kind { return CaffeMessage(inner) }
    return CaffeMessage(nil)
  }
}
