import CProtobufC
import TensorCore

/// Protobuf's text format for an unpacked message, as its Python implementation prints it: one
/// field per line, two spaces per level, fields in the order of their numbers, maps in the order of
/// their keys.
struct ProtobufText {
  private(set) var text = ""

  mutating func append(_ message: UnsafeRawPointer, indent: Int = 0) {
    guard let descriptor = message.load(as: ProtobufCMessage.self).descriptor else { return }
    for index in 0..<Int(descriptor.pointee.n_fields) {
      append(descriptor.pointee.fields + index, of: message, indent: indent)
    }
  }

  private mutating func append(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, of message: UnsafeRawPointer, indent: Int
  ) {
    let isList = field.pointee.label == PROTOBUF_C_LABEL_REPEATED
    for element in Self.elements(of: field, in: message)
    where isList || field.pointee.isInChoice || !Self.isDefault(field.pointee.type, at: element) {
      appendValue(field, at: element, indent: indent)
    }
  }

  /// Pointers to the values of a field: one per element of a list or entry of a map, in key order,
  /// or a single one; empty if the field is a choice that was not made.
  static func elements(
    of field: UnsafePointer<ProtobufCFieldDescriptor>, in message: UnsafeRawPointer
  ) -> [UnsafeRawPointer] {
    let address = message + Int(field.pointee.offset)
    let quantifier = message + Int(field.pointee.quantifier_offset)
    if field.pointee.label == PROTOBUF_C_LABEL_REPEATED {
      guard let base = address.load(as: UnsafeRawPointer?.self) else { return [] }
      let width = width(field.pointee.type)
      var elements = (0..<quantifier.load(as: Int.self)).map { base + $0 * width }
      if field.pointee.messageType?.isMapEntry ?? false {
        elements.sort { key($0).lexicographicallyPrecedes(key($1)) }
      }
      return elements
    }
    if field.pointee.isInChoice, quantifier.load(as: UInt32.self) != field.pointee.id { return [] }
    return [address]
  }

  private static func width(_ type: ProtobufCType) -> Int {
    switch type {
    case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_DOUBLE,
      PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_MESSAGE:
      8
    case PROTOBUF_C_TYPE_BYTES: MemoryLayout<ProtobufCBinaryData>.stride
    default: 4
    }
  }

  private static func isDefault(_ type: ProtobufCType, at address: UnsafeRawPointer) -> Bool {
    switch type {
    case PROTOBUF_C_TYPE_STRING: string(at: address).isEmpty
    case PROTOBUF_C_TYPE_MESSAGE: address.load(as: UnsafeRawPointer?.self) == nil
    case PROTOBUF_C_TYPE_BYTES: address.load(as: ProtobufCBinaryData.self).len == 0
    case _ where width(type) == 8: address.load(as: UInt64.self) == 0
    default: address.load(as: UInt32.self) == 0
    }
  }

  private mutating func appendValue(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, at address: UnsafeRawPointer, indent: Int
  ) {
    let margin = String(repeating: "  ", count: indent)
    let name = String(cString: field.pointee.name)
    if field.pointee.type == PROTOBUF_C_TYPE_MESSAGE {
      text += "\(margin)\(name) {\n"
      if let inner = address.load(as: UnsafeRawPointer?.self) { append(inner, indent: indent + 1) }
      text += "\(margin)}\n"
    } else {
      text += "\(margin)\(name): \(Self.scalar(field, at: address))\n"
    }
  }

  static func scalar(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, at address: UnsafeRawPointer
  ) -> String {
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_INT64: return "\(address.load(as: Int64.self))"
    case PROTOBUF_C_TYPE_UINT64: return "\(address.load(as: UInt64.self))"
    case PROTOBUF_C_TYPE_UINT32: return "\(address.load(as: UInt32.self))"
    case PROTOBUF_C_TYPE_BOOL: return address.load(as: Int32.self) == 0 ? "false" : "true"
    case PROTOBUF_C_TYPE_DOUBLE: return "\(address.load(as: Double.self))"
    case PROTOBUF_C_TYPE_FLOAT: return "\(address.load(as: Float.self))"
    case PROTOBUF_C_TYPE_STRING: return quoted(string(at: address))
    case PROTOBUF_C_TYPE_BYTES:
      let data = address.load(as: ProtobufCBinaryData.self)
      return quoted(UnsafeBufferPointer(start: data.data, count: data.len))
    case PROTOBUF_C_TYPE_ENUM:
      let value = address.load(as: Int32.self)
      let type = field.pointee.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self)
      guard let known = protobuf_c_enum_descriptor_get_value(type, value) else { return "\(value)" }
      return String(cString: known.pointee.name)
    default: return "\(address.load(as: Int32.self))"
    }
  }

  static func string(at address: UnsafeRawPointer) -> UnsafeBufferPointer<UInt8> {
    guard let pointer = address.load(as: UnsafePointer<CChar>?.self) else {
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    var count = 0
    while pointer[count] != 0 { count += 1 }
    return UnsafeRawBufferPointer(start: pointer, count: count).bindMemory(to: UInt8.self)
  }

  private static func key(_ element: UnsafeRawPointer) -> UnsafeBufferPointer<UInt8> {
    guard let entry = element.load(as: UnsafeRawPointer?.self),
      let descriptor = entry.load(as: ProtobufCMessage.self).descriptor,
      descriptor.field("key").pointee.type == PROTOBUF_C_TYPE_STRING
    else { return UnsafeBufferPointer(start: nil, count: 0) }
    return string(at: entry + Int(descriptor.field("key").pointee.offset))
  }

  /// Escapes quotes, backslashes and control characters.
  private static func quoted(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    var result: [UInt8] = [0x22]
    for byte in bytes {
      switch byte {
      case 0x0A: result += Array("\\n".utf8)
      case 0x0D: result += Array("\\r".utf8)
      case 0x09: result += Array("\\t".utf8)
      case 0x22, 0x27, 0x5C: result += [0x5C, byte]
      case 0..<0x20, 0x7F:
        result += [0x5C, 0x30 + byte >> 6, 0x30 + byte >> 3 & 7, 0x30 + byte & 7]
      default: result.append(byte)
      }
    }
    result.append(0x22)
    return String(decoding: result, as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
      guard scalar.isControl else { return text.unicodeScalars.append(scalar) }
      for byte in String(scalar).utf8 { text += "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)" }
    }
  }
}

extension UnsafePointer<ProtobufCMessageDescriptor> {
  /// Whether the message is an entry of a map.
  var isMapEntry: Bool {
    let name = String(cString: pointee.short_name)
    return name.hasSuffix("Entry") && pointee.n_fields == 2
  }
}

extension Model {
  /// The description, that is interface and metadata, in protobuf's text format.
  package var descriptionText: String {
    get throws {
      try Model().with(\.description, description).withUnpacked { model in
        var text = ProtobufText()
        let field = SpecificationSchema.descriptor.field("description")
        if let description = (model + Int(field.pointee.offset)).load(as: UnsafeRawPointer?.self) {
          text.append(description)
        }
        return text.text
      }
    }
  }

  /// Passes the encoded model, unpacked, to `body`.
  func withUnpacked<Result>(_ body: (UnsafeRawPointer) throws -> Result) throws -> Result {
    let bytes = try encoded()
    let allocator = UnpackAllocator(budget: 8 * bytes.count + (64 << 20))
    return try allocator.withUnpacked(bytes, SpecificationSchema.descriptor, body).orThrow(
      ModelError(.malformed, "the model cannot be printed"))
  }
}
