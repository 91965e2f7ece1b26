import ByteFormats
import CProtobufC
import TensorCore

/// Reads the fields of an unpacked message by their names in the schema.
package final class MessageReader {
  let message: UnsafeRawPointer
  let descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  let payloads: [ProtobufSkeleton.Payload]
  /// The path of this message from the nearest enclosing message with a Swift type.
  private let path: [UnknownFields.Step]
  private let collector: Collector
  /// The index of this message in the collector.
  private let slot: Int

  /// Fields that the skeleton left out of a message and of the messages flattened into it.
  private final class Collector { var leftOut: [[UnknownFields.Field]] = [] }

  private var leftOut: [UnknownFields.Field] {
    get { collector.leftOut[slot] }
    set { collector.leftOut[slot] = newValue }
  }

  convenience init(_ message: UnsafeRawPointer, payloads: [ProtobufSkeleton.Payload]) throws {
    try self.init(message, payloads: payloads, path: [], collector: Collector())
  }

  private init(
    _ message: UnsafeRawPointer, payloads: [ProtobufSkeleton.Payload], path: [UnknownFields.Step],
    collector: Collector
  ) throws {
    (self.message, self.payloads, self.path, self.collector) = (message, payloads, path, collector)
    let base = message.load(as: ProtobufCMessage.self)
    guard let descriptor = base.descriptor else { throw ModelError(.internal, "no descriptor") }
    self.descriptor = descriptor
    slot = collector.leftOut.count
    collector.leftOut.append(
      (0..<Int(base.n_unknown_fields)).map {
        Self.resolve(base.unknown_fields[$0], payloads, path)
      })
  }

  private static func resolve(
    _ field: ProtobufCMessageUnknownField, _ payloads: [ProtobufSkeleton.Payload],
    _ path: [UnknownFields.Step]
  ) -> UnknownFields.Field {
    let raw = UnsafeRawBufferPointer(start: field.data, count: field.len)
    if field.tag == ProtobufSkeleton.placeholder {
      var index = 0
      for (position, byte) in raw.enumerated() { index |= Int(byte & 0x7F) << (7 * position) }
      let payload = payloads[index]
      return UnknownFields.Field(
        number: payload.number, wireType: payload.wireType, payload: payload.bytes, path: path)
    }
    let wireType = UInt8(field.wire_type.rawValue)
    // Length-delimited values start with their length.
    let skipped = wireType == 2 ? (raw.firstIndex { $0 < 0x80 } ?? -1) + 1 : 0
    return UnknownFields.Field(
      number: field.tag, wireType: wireType, payload: Bytes(Array(raw.dropFirst(skipped))),
      path: path)
  }

  /// Fields of this message, and of those flattened into it, that are missing from every table.
  var leftovers: [UnknownFields.Field] { collector.leftOut.flatMap { $0 } }

  private func take(_ number: UInt32) -> Bytes? {
    guard let index = leftOut.firstIndex(where: { $0.number == number }) else { return nil }
    return leftOut.remove(at: index).payload
  }

  /// The first of the named messages that the skeleton left out.
  func takeOpaque(_ names: [String]) -> OpaqueMessage? {
    for name in names {
      let number = field(name).pointee.id
      if let payload = take(number) {
        return OpaqueMessage(field: number, name: name, payload: payload)
      }
    }
    return nil
  }

  /// The names of all members of the choice to which `name` belongs.
  func rivals(of name: String) -> [String] {
    let offset = field(name).pointee.quantifier_offset
    return (0..<Int(descriptor.pointee.n_fields)).compactMap { index in
      let field = descriptor.pointee.fields[index]
      return field.isInChoice && field.quantifier_offset == offset
        ? String(cString: field.name) : nil
    }
  }

  private func field(_ name: String) -> UnsafePointer<ProtobufCFieldDescriptor> {
    descriptor.field(name)
  }

  private func address(_ field: UnsafePointer<ProtobufCFieldDescriptor>) -> UnsafeRawPointer {
    message + Int(field.pointee.offset)
  }

  private func count(_ field: UnsafePointer<ProtobufCFieldDescriptor>) -> Int {
    message.load(fromByteOffset: Int(field.pointee.quantifier_offset), as: Int.self)
  }

  /// The elements of a repeated field.
  private func elements<Element>(_ name: String, as type: Element.Type) -> [Element] {
    let field = field(name)
    let count = count(field)
    guard count > 0, let base = address(field).load(as: UnsafeRawPointer?.self) else { return [] }
    return Array(UnsafeBufferPointer(start: base.assumingMemoryBound(to: type), count: count))
  }

  /// Whether the message holds this member of a choice.
  func isChosen(_ name: String) -> Bool {
    let field = field(name)
    let number = message.load(
      fromByteOffset: Int(field.pointee.quantifier_offset), as: UInt32.self)
    return number == field.pointee.id
      || number == 0 && leftOut.contains { $0.number == field.pointee.id }
  }

  package func int(_ name: String) throws -> Int {
    let field = field(name)
    let address = address(field)
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_INT64: return Int(address.load(as: Int64.self))
    case PROTOBUF_C_TYPE_UINT64: return try Self.int(address.load(as: UInt64.self), name)
    case PROTOBUF_C_TYPE_UINT32: return Int(address.load(as: UInt32.self))
    default: return Int(address.load(as: Int32.self))
    }
  }

  private static func int(_ value: UInt64, _ name: String) throws -> Int {
    guard let value = Int(exactly: value) else {
      throw ModelError(.limitExceeded, "\(value) is too large", field: name)
    }
    return value
  }

  func ints(_ name: String) throws -> [Int] {
    switch field(name).pointee.type {
    case PROTOBUF_C_TYPE_UINT64:
      try elements(name, as: UInt64.self).map { try Self.int($0, name) }
    default: elements(name, as: Int64.self).map { Int($0) }
    }
  }

  func bools(_ name: String) -> [Bool] {
    elements(name, as: protobuf_c_boolean.self).map { $0 != 0 }
  }

  func float(_ name: String) -> Float { address(field(name)).load(as: Float.self) }

  func double(_ name: String) -> Double { address(field(name)).load(as: Double.self) }

  func doubles(_ name: String) -> [Double] { elements(name, as: Double.self) }

  /// The numbers in the field `inner` of each message of the repeated field `name`.
  func rows(_ name: String, of inner: String) throws -> [[Double]] {
    try nestedArray(name).map { $0.doubles(inner) }
  }

  func floats(_ name: String) -> [Float] {
    take(field(name).pointee.id)?.array(of: Float.self) ?? elements(name, as: Float.self)
  }

  func floatValues(_ name: String) -> FloatValues {
    if let payload = take(field(name).pointee.id) { return FloatValues(bytes: payload) }
    return FloatValues(elements(name, as: Float.self))
  }

  func bytes(_ name: String) -> Bytes {
    if let payload = take(field(name).pointee.id) { return payload }
    let data = address(field(name)).load(as: ProtobufCBinaryData.self)
    return Bytes(Array(UnsafeBufferPointer(start: data.data, count: data.len)))
  }

  package func string(_ name: String) throws -> String {
    try Self.string(address(field(name)).load(as: UnsafePointer<CChar>?.self), name)
  }

  func strings(_ name: String) throws -> [String] {
    try elements(name, as: UnsafePointer<CChar>?.self).map { try Self.string($0, name) }
  }

  private static func string(_ pointer: UnsafePointer<CChar>?, _ name: String) throws -> String {
    guard let pointer else { return "" }
    guard let string = String(validatingCString: pointer) else {
      throw ModelError(.malformed, "the text is not UTF-8", field: name)
    }
    return string
  }

  func value<Value: RawRepresentable<Int> & CaseIterable>(_ name: String) throws -> Value {
    let raw = try int(name)
    guard let value = Value(rawValue: raw) else {
      let known = Value.allCases.map { "\($0.rawValue) \($0)" }.joined(separator: ", ")
      throw ModelError(
        .unsupported, "unknown value \(raw)", field: name, hint: "known values are \(known)")
    }
    return value
  }

  func message<Value: SpecificationMessage>(_ name: String) throws -> Value? {
    guard let pointer = pointer(name) else { return nil }
    return try inField(name) { try Value(MessageReader(pointer, payloads: payloads)) }
  }

  func messages<Value: SpecificationMessage>(_ name: String) throws -> [Value] {
    try elements(name, as: UnsafeRawPointer?.self).enumerated().map { index, pointer in
      guard let pointer else { return Value() }
      return try inField("\(name)[\(index)]") {
        try Value(MessageReader(pointer, payloads: payloads))
      }
    }
  }

  /// A message whose fields are read as part of this one.
  func nested(_ name: String) throws -> MessageReader? {
    guard let pointer = pointer(name) else { return nil }
    return try flattened(pointer, name, index: 0)
  }

  func nestedArray(_ name: String) throws -> [MessageReader] {
    try elements(name, as: UnsafeRawPointer?.self).enumerated().compactMap { index, pointer in
      try pointer.map { try flattened($0, name, index: index) }
    }
  }

  /// The entries of a map.
  func entries(_ name: String) throws -> [MessageReader] {
    try elements(name, as: UnsafeRawPointer?.self).compactMap { pointer in
      try pointer.map { try MessageReader($0, payloads: payloads) }
    }
  }

  private func flattened(
    _ pointer: UnsafeRawPointer, _ name: String, index: Int
  ) throws -> MessageReader {
    try MessageReader(
      pointer, payloads: payloads,
      path: path + [UnknownFields.Step(field: field(name).pointee.id, index: index)],
      collector: collector)
  }

  private func pointer(_ name: String) -> UnsafeRawPointer? {
    let field = field(name)
    if field.pointee.isInChoice, !isChosen(name) { return nil }
    return address(field).load(as: UnsafeRawPointer?.self)
  }
}

extension UnsafePointer<ProtobufCMessageDescriptor> {
  /// Precondition: the schema has the field. A test reads and writes every field in the tables.
  func field(_ name: String) -> UnsafePointer<ProtobufCFieldDescriptor> {
    guard let field = protobuf_c_message_descriptor_get_field_by_name(self, name) else {
      preconditionFailure("\(String(cString: pointee.name)) has no field \(name)")
    }
    return field
  }
}

extension ProtobufCFieldDescriptor {
  var isInChoice: Bool { flags & UInt32(PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue) != 0 }

  /// The type of the field's messages, if it holds messages.
  var messageType: UnsafePointer<ProtobufCMessageDescriptor>? {
    type == PROTOBUF_C_TYPE_MESSAGE
      ? descriptor?.assumingMemoryBound(to: ProtobufCMessageDescriptor.self) : nil
  }
}
