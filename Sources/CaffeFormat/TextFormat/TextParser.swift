/// Reads a message in protobuf's text format, guided by the schema. Unknown fields are kept.
struct TextParser {
  private var scanner: TextScanner
  private var valueCount = 0
  /// Fields that the schema lacks.
  private(set) var unknownFields: [UnknownField] = []
  private var unknownIndices: [String: Int] = [:]

  struct UnknownField: Sendable {
    /// The field's path, such as `layer.convolution_param.kernal_size`.
    var path: String
    /// The position of its first occurrence.
    var position: TextPosition
    /// The number of its occurrences in the text.
    var count = 1
    /// A field of the same message with a similar spelling.
    var similar: String?
  }

  init(_ text: [UInt8]) throws {
    try require(
      text.count <= Limits.prototxtBytes, .limitExceeded,
      "\(text.count) bytes of text are more than the limit of \(Limits.prototxtBytes)")
    scanner = try TextScanner(text)
  }

  /// Parses the whole text as a message.
  mutating func parse(_ type: MessageType) throws -> CaffeMessage {
    let message = try fields(type, until: nil, path: "", depth: Limits.protobufDepth)
    return message
  }

  /// Parses fields up to the closing bracket or the end.
  private mutating func fields(
    _ type: MessageType?, until closing: (symbol: Character, start: TextPosition)?, path: String,
    depth: Int
  ) throws -> CaffeMessage {
    try require(
      depth > 0, .limitExceeded,
      "\(scanner.position): messages are nested more than \(Limits.protobufDepth) levels deep")
    var message = CaffeMessage(type)
    while true {
      if let closing {
        if try scanner.accept(closing.symbol) { return message }
        if scanner.next == .end {
          throw scanner.error(
            "the file ends where '\(closing.symbol)' was expected",
            hint: "the bracket at \(closing.start) is not closed")
        }
      } else if scanner.next == .end {
        return message
      }
      try field(of: &message, path: path, depth: depth, closing: closing)
    }
  }

  private mutating func field(
    of message: inout CaffeMessage, path: String, depth: Int,
    closing: (symbol: Character, start: TextPosition)?
  ) throws {
    let start = scanner.position
    let name = try fieldName(closing)
    let type = message.type?[name]
    let inner = path.isEmpty ? name : "\(path).\(name)"
    if type == nil, let known = message.type {
      if let index = unknownIndices[inner] {
        unknownFields[index].count += 1
      } else {
        unknownIndices[inner] = unknownFields.count
        unknownFields.append(
          UnknownField(path: inner, position: start, similar: known.fieldName(similarTo: name)))
      }
    }
    if let type, !type.isRepeated, message.has(name) {
      throw scanner.error("'\(name)' is repeated", at: start)
    }
    let hasColon = try scanner.accept(":")
    if scanner.next == .symbol(UInt8(ascii: "[")) {
      if let type, !type.isRepeated {
        throw scanner.error("found a list, but '\(name)' takes one value")
      }
      for value in try list(type, inner, depth: depth) {
        message.add(value, to: name, type: type, at: start)
      }
    } else if !hasColon, !isMessageStart {
      throw scanner.error("found \(scanner.found); expected ':' or a message after '\(name)'")
    } else {
      message.add(try value(type, inner, depth: depth), to: name, type: type, at: start)
    }
    if try !scanner.accept(",") { _ = try scanner.accept(";") }
  }

  private mutating func fieldName(
    _ closing: (symbol: Character, start: TextPosition)?
  ) throws -> String {
    switch scanner.next {
    case .word(let name), .number(let name):
      try scanner.take()
      return name
    case .symbol(UInt8(ascii: "[")):
      // The name of an extension or a type URL: [example.name]
      try scanner.take()
      var name = ""
      while try !scanner.accept("]") {
        switch scanner.next {
        case .word(let text), .number(let text): name += text
        case .symbol(let byte) where byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/"):
          name.unicodeScalars.append(UnicodeScalar(byte))
        default: throw scanner.error("found \(scanner.found) in the name of an extension")
        }
        try scanner.take()
      }
      return "[\(name)]"
    default:
      let hint: String? =
        switch (scanner.next, closing) {
        case (.symbol(UInt8(ascii: "}")), nil), (.symbol(UInt8(ascii: ">")), nil):
          "there is an extra closing bracket, or an opening bracket is missing"
        case (.symbol(UInt8(ascii: "}")), let closing?), (.symbol(UInt8(ascii: ">")), let closing?):
          "the bracket at \(closing.start) is closed by '\(closing.symbol)'"
        default: nil
        }
      throw scanner.error("found \(scanner.found); expected a field name", hint: hint)
    }
  }

  private mutating func list(
    _ type: FieldType?, _ path: String, depth: Int
  ) throws -> [CaffeValue] {
    try scanner.take()
    if try scanner.accept("]") { return [] }
    var values: [CaffeValue] = []
    repeat { values.append(try value(type, path, depth: depth)) } while try scanner.accept(",")
    guard try scanner.accept("]") else {
      throw scanner.error("found \(scanner.found); expected ',' or ']'")
    }
    return values
  }

  private var isMessageStart: Bool {
    scanner.next == .symbol(UInt8(ascii: "{")) || scanner.next == .symbol(UInt8(ascii: "<"))
  }

  private mutating func value(_ type: FieldType?, _ path: String, depth: Int) throws -> CaffeValue {
    valueCount += 1
    try require(
      valueCount <= Limits.prototxtValues, .limitExceeded,
      "\(scanner.position): more than \(Limits.prototxtValues) values")
    if isMessageStart {
      var inner: MessageType?
      if let type {
        guard case .message(let known) = type.kind else {
          throw scanner.error("found a message, but '\(type.name)' takes \(type.kind.words)")
        }
        inner = known
      }
      let start = scanner.position
      let closing: Character = try scanner.accept("{") ? "}" : ">"
      if closing == ">" { try scanner.take() }
      return .message(try fields(inner, until: (closing, start), path: path, depth: depth - 1))
    }
    if let type { return try known(type) }
    return try unknown()
  }

  // MARK: Scalars

  /// Parses a value of an unknown field.
  private mutating func unknown() throws -> CaffeValue {
    if case .string = scanner.next {
      return .string(String(decoding: try strings(), as: UTF8.self))
    }
    let start = scanner.position
    let isNegative = try scanner.accept("-")
    switch try scanner.take() {
    case .word(let name): return .symbol(isNegative ? "-" + name : name, nil)
    case .number(let text):
      if let value = Self.integer(text, isNegative: isNegative) { return .integer(value) }
      if let value = Self.number(text) { return .number(isNegative ? -value : value) }
      throw scanner.error("'\(text.prefix(40))' is not a number", at: start)
    default: throw scanner.error("no value", at: start)
    }
  }

  private mutating func known(_ type: FieldType) throws -> CaffeValue {
    let start = scanner.position
    func wrong() -> ModelError {
      scanner.error(
        "found \(scanner.found), but '\(type.name)' takes \(type.kind.words)", at: start)
    }
    switch type.kind {
    case .message: throw wrong()
    case .string:
      guard case .string = scanner.next else { throw wrong() }
      return .string(String(decoding: try strings(), as: UTF8.self))
    case .bytes:
      guard case .string = scanner.next else { throw wrong() }
      return .bytes(Bytes(try strings()))
    case .bool:
      switch scanner.next {
      case .word("true"), .word("True"), .word("t"), .number("1"):
        try scanner.take()
        return .bool(true)
      case .word("false"), .word("False"), .word("f"), .number("0"):
        try scanner.take()
        return .bool(false)
      default: throw wrong()
      }
    case .enumeration(let enumeration):
      if case .word(let name) = scanner.next {
        try scanner.take()
        return .symbol(name, enumeration.number(name))
      }
      let isNegative = try scanner.accept("-")
      guard case .number(let text) = scanner.next,
        let number = Self.integer(text, isNegative: isNegative)
      else { throw wrong() }
      try scanner.take()
      return .symbol(enumeration.value(number) ?? "\(number)", number)
    case .integer(let range):
      let isNegative = try scanner.accept("-")
      guard case .number(let text) = scanner.next,
        let number = Self.integer(text, isNegative: isNegative)
          ?? Self.fraction(text).flatMap({ Int(exactly: isNegative ? -$0 : $0) })
      else { throw wrong() }
      guard range.contains(number) else {
        throw scanner.error(
          "found \(isNegative ? "-" : "")\(text.prefix(40)), but '\(type.name)' takes "
            + type.kind.words, at: start)
      }
      try scanner.take()
      return .integer(number)
    case .float, .double:
      let isNegative = try scanner.accept("-")
      let number: Double?
      switch scanner.next {
      case .word(let name): number = CaffeValue.symbol(name, nil).number
      case .number(let text):
        number = Self.number(text) ?? Self.integer(text, isNegative: false).map(Double.init)
      default: number = nil
      }
      guard var number else { throw wrong() }
      if isNegative { number = -number }
      if case .float = type.kind { number = Double(Float(number)) }
      try scanner.take()
      return .number(number)
    }
  }

  /// Parses one string, or several adjacent ones.
  private mutating func strings() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while case .string(let part) = scanner.next {
      bytes += part
      try scanner.take()
    }
    return bytes
  }

  /// Parses an integer: decimal, hexadecimal with `0x`, or octal with `0`.
  private static func integer(_ text: String, isNegative: Bool) -> Int? {
    let sign = isNegative ? "-" : ""
    let lowercase = text.lowercased()
    if lowercase.hasPrefix("0x") { return Int(sign + lowercase.dropFirst(2), radix: 16) }
    if lowercase.count > 1, lowercase.hasPrefix("0"), lowercase.allSatisfy(\.isNumber) {
      return Int(sign + lowercase.dropFirst(), radix: 8)
    }
    return Int(sign + text)
  }

  /// Parses a number with a decimal point or an exponent.
  private static func fraction(_ text: String) -> Double? {
    text.contains { ".eE".contains($0) } ? number(text) : nil
  }

  private static func number(_ text: String) -> Double? {
    let lowercase = text.lowercased()
    if lowercase.hasPrefix("0x") { return nil }
    return Double(lowercase.hasSuffix("f") ? String(lowercase.dropLast()) : lowercase)
  }
}

extension FieldType.Kind {
  /// A description of values of the kind.
  var words: String {
    switch self {
    case .integer(let range):
      range.lowerBound == 0 ? "a non-negative integer" : "an integer"
    case .float, .double: "a number"
    case .bool: "true or false"
    case .string, .bytes: "a string"
    case .enumeration(let type): "one of " + type.allNames.joined(separator: ", ")
    case .message: "a message"
    }
  }
}

extension MessageType {
  /// The field whose name differs from `name` by one or two letters.
  package func fieldName(similarTo name: String) -> String? {
    let target = Array(name.utf8)
    guard (3...64).contains(target.count) else { return nil }
    return fields.map { ($0.name, NameDistance.edits(Array($0.name.utf8), target)) }
      .filter { $0.1 <= 2 }.min { $0.1 < $1.1 }?.0
  }
}
