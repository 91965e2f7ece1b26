import ByteFormats
import TensorCore

/// An encoded protobuf message, decomposed by its schema for changes and encoding.
struct MessageTree: Sendable {
  enum Value: Sendable {
    case varint(UInt64)
    case fixed32(UInt32)
    case fixed64(UInt64)
    case text([UInt8])
    case bytes([UInt8])
    case packed([Value])
    case message(MessageTree)
  }

  struct Field: Sendable {
    var number: UInt32
    var value: Value
  }

  let schema: ProtobufSchema?
  var fields: [Field] = []

  init(schema: ProtobufSchema?) { self.schema = schema }

  /// - Throws: if the bytes are not a message, or are nested too deeply.
  init(_ bytes: [UInt8], schema: ProtobufSchema) throws {
    self = try bytes.withUnsafeBytes {
      try MessageTree($0, 0..<$0.count, schema: schema, depth: Limits.protobufDepth)
    }
  }

  private init(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, schema: ProtobufSchema?, depth: Int
  ) throws {
    try require(depth > 0, .limitExceeded, "nested too deeply")
    self.schema = schema
    var position = range.lowerBound
    while position < range.upperBound {
      let field = try ProtobufWire.field(bytes, at: position, end: range.upperBound)
      position = field.range.upperBound
      let kind = schema.flatMap { schema in
        schema.index(of: field.number).map { schema.fields[$0].kind }
      }
      fields.append(
        Field(number: field.number, value: try Self.value(field, kind, in: bytes, depth)))
    }
  }

  private static func value(
    _ field: ProtobufWire.Field, _ kind: ProtobufSchema.Kind?, in bytes: UnsafeRawBufferPointer,
    _ depth: Int
  ) throws -> Value {
    func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
      Number(
        littleEndian: bytes.loadUnaligned(fromByteOffset: field.value.lowerBound, as: type))
    }
    switch field.wireType {
    case ProtobufWire.varint:
      var position = field.value.lowerBound
      return .varint(
        try ProtobufWire.varint(bytes, at: &position, end: field.value.upperBound, longest: 10))
    case ProtobufWire.fixed32: return .fixed32(number(UInt32.self))
    case ProtobufWire.fixed64: return .fixed64(number(UInt64.self))
    default:
      let content = Array(bytes[field.value])
      switch kind {
      case .message(let schema)?:
        return .message(try MessageTree(bytes, field.value, schema: schema, depth: depth - 1))
      case .string?: return .text(content)
      case .varint?: return .packed(try varints(content))
      case .fixed32? where content.count.isMultiple(of: 4):
        return .packed(numbers(content, UInt32.self).map { .fixed32($0) })
      case .fixed64? where content.count.isMultiple(of: 8):
        return .packed(numbers(content, UInt64.self).map { .fixed64($0) })
      default: return .bytes(content)
      }
    }
  }

  private static func varints(_ bytes: [UInt8]) throws -> [Value] {
    try bytes.withUnsafeBytes { bytes in
      var values: [Value] = []
      var position = 0
      while position < bytes.count {
        values.append(
          .varint(try ProtobufWire.varint(bytes, at: &position, end: bytes.count, longest: 10)))
      }
      return values
    }
  }

  private static func numbers<Number: FixedWidthInteger>(
    _ bytes: [UInt8], _ type: Number.Type
  ) -> [Number] {
    bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: MemoryLayout<Number>.size).map {
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: type))
      }
    }
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for field in fields {
      ProtobufWire.append(key: field.number, field.value.wireType, to: &bytes)
      field.value.append(to: &bytes)
    }
    return bytes
  }
}

extension MessageTree.Value {
  fileprivate var wireType: UInt8 {
    switch self {
    case .varint: ProtobufWire.varint
    case .fixed32: ProtobufWire.fixed32
    case .fixed64: ProtobufWire.fixed64
    case .text, .bytes, .packed, .message: ProtobufWire.delimited
    }
  }

  /// Appends the value as it follows its key.
  fileprivate func append(to bytes: inout [UInt8]) {
    func delimited(_ content: [UInt8]) {
      ProtobufWire.append(varint: UInt64(content.count), to: &bytes)
      bytes += content
    }
    switch self {
    case .varint(let value): ProtobufWire.append(varint: value, to: &bytes)
    case .fixed32(let value): withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    case .fixed64(let value): withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    case .text(let content), .bytes(let content): delimited(content)
    case .message(let message): delimited(message.encoded)
    case .packed(let values):
      var content: [UInt8] = []
      for value in values { value.append(to: &content) }
      delimited(content)
    }
  }
}
