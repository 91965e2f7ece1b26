import ByteFormats
import CProtobufC
import TensorCore

/// State shared while writing: memory for the messages, and payloads that are inserted later.
final class EncodingContext {
  let arena = Arena()
  var payloads: [ProtobufSplice.Payload] = []
}

/// Fills a message before packing, by the names of its fields in the schema.
package final class MessageWriter {
  let message: UnsafeMutableRawPointer
  private let descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  private let context: EncodingContext
  /// Fields to carry through, here and in messages flattened into this one.
  private let unknown: [UnknownFields.Field]
  private let depth: Int
  private var placeholders: [Int] = []

  init(
    _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ context: EncodingContext,
    unknown: [UnknownFields.Field], depth: Int = Limits.protobufDepth
  ) throws {
    try require(
      depth > 0, .limitExceeded, "messages are nested more than \(Limits.protobufDepth) levels deep"
    )
    (self.descriptor, self.context, self.unknown) = (descriptor, context, unknown)
    self.depth = depth
    message = context.arena.allocate(Int(descriptor.pointee.sizeof_message))
    protobuf_c_message_init(descriptor, message)
  }

  /// Attaches the fields to carry through. Call once, after all fields have been set.
  func finish() throws {
    for field in unknown where field.path.isEmpty {
      add(field.number, field.wireType, .bytes(field.payload))
    }
    if placeholders.isEmpty { return }
    let stride = MemoryLayout<ProtobufCMessageUnknownField>.stride
    let fields = context.arena.allocate(placeholders.count * stride)
      .bindMemory(to: ProtobufCMessageUnknownField.self, capacity: placeholders.count)
    for (position, index) in placeholders.enumerated() {
      var bytes: [UInt8] = []
      var rest = index
      repeat {
        bytes.append(UInt8(rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0))
        rest >>= 7
      } while rest > 0
      fields[position] = ProtobufCMessageUnknownField(
        tag: ProtobufSkeleton.placeholder, wire_type: PROTOBUF_C_WIRE_TYPE_VARINT,
        len: bytes.count,
        data: context.arena.copy(bytes).assumingMemoryBound(to: UInt8.self))
    }
    let base = message.assumingMemoryBound(to: ProtobufCMessage.self)
    base.pointee.n_unknown_fields = UInt32(placeholders.count)
    base.pointee.unknown_fields = fields
  }

  private func add(_ number: UInt32, _ wireType: UInt8, _ content: ProtobufSplice.Content) {
    placeholders.append(context.payloads.count)
    context.payloads.append(
      ProtobufSplice.Payload(number: number, wireType: wireType, content: content))
  }

  func add(_ opaque: OpaqueMessage?) {
    if let opaque { add(opaque.field, 2, .bytes(opaque.payload)) }
  }

  /// The address of the field's value; marks the field as the chosen one.
  private func address(_ field: UnsafePointer<ProtobufCFieldDescriptor>) -> UnsafeMutableRawPointer
  {
    if field.pointee.isInChoice {
      message.storeBytes(
        of: field.pointee.id, toByteOffset: Int(field.pointee.quantifier_offset), as: UInt32.self)
    }
    return message + Int(field.pointee.offset)
  }

  private func setElements(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, _ base: UnsafeMutableRawPointer, count: Int
  ) {
    message.storeBytes(
      of: count, toByteOffset: Int(field.pointee.quantifier_offset), as: Int.self)
    (message + Int(field.pointee.offset)).storeBytes(
      of: base, as: UnsafeMutableRawPointer.self)
  }

  package func set(_ name: String, _ value: Int) throws {
    let field = descriptor.field(name)
    let address = address(field)
    func exactly<Stored: FixedWidthInteger>(_ type: Stored.Type) throws {
      address.storeBytes(of: try Self.exact(value, name), as: type)
    }
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_INT64: try exactly(Int64.self)
    case PROTOBUF_C_TYPE_UINT64: try exactly(UInt64.self)
    case PROTOBUF_C_TYPE_UINT32: try exactly(UInt32.self)
    default: try exactly(Int32.self)
    }
  }

  private static func exact<Stored: FixedWidthInteger>(_ value: Int, _ name: String) throws
    -> Stored
  {
    guard let stored = Stored(exactly: value) else {
      throw ModelError(.mismatch, "\(value) cannot be stored", field: name)
    }
    return stored
  }

  func set(_ name: String, _ values: [Int]) throws {
    if values.isEmpty { return }
    let field = descriptor.field(name)
    let base =
      field.pointee.type == PROTOBUF_C_TYPE_UINT64
      ? context.arena.copy(try values.map { try Self.exact($0, name) as UInt64 })
      : context.arena.copy(values.map { Int64($0) })
    setElements(field, base, count: values.count)
  }

  func set(_ name: String, _ values: [Bool]) {
    if values.isEmpty { return }
    let stored = values.map { protobuf_c_boolean($0 ? 1 : 0) }
    setElements(descriptor.field(name), context.arena.copy(stored), count: values.count)
  }

  func set(_ name: String, _ value: Float) {
    address(descriptor.field(name)).storeBytes(of: value, as: Float.self)
  }

  func set(_ name: String, _ value: Double) {
    address(descriptor.field(name)).storeBytes(of: value, as: Double.self)
  }

  func set(_ name: String, _ values: [Double]) {
    if values.isEmpty { return }
    setElements(descriptor.field(name), context.arena.copy(values), count: values.count)
  }

  func set(_ name: String, rows: [[Double]], of inner: String) throws {
    try nestedArray(name, count: rows.count) { $1.set(inner, rows[$0]) }
  }

  func set(_ name: String, _ values: [Float]) { set(name, FloatValues(values)) }

  func set(_ name: String, _ values: FloatValues) {
    if values.count == 0 { return }
    let field = descriptor.field(name)
    if values.count * 4 >= ProtobufSkeleton.payloadByteCount {
      add(field.pointee.id, 2, .floats(values))
    } else {
      let copy = [Float](unsafeUninitializedCapacity: values.count) { target, count in
        values.copy(0..<values.count, to: target.baseAddress!)
        count = values.count
      }
      setElements(field, context.arena.copy(copy), count: values.count)
    }
  }

  func set(_ name: String, _ value: Bytes) {
    if value.count == 0 { return }
    let field = descriptor.field(name)
    if value.count >= ProtobufSkeleton.payloadByteCount {
      add(field.pointee.id, 2, .bytes(value))
    } else {
      let data = context.arena.copy(value.array(of: UInt8.self))
      address(field).storeBytes(
        of: ProtobufCBinaryData(len: value.count, data: data.assumingMemoryBound(to: UInt8.self)),
        as: ProtobufCBinaryData.self)
    }
  }

  package func set(_ name: String, _ value: String) throws {
    let field = descriptor.field(name)
    if value.isEmpty, !field.pointee.isInChoice { return }
    let copy = try self.copy(value, name)
    address(field).storeBytes(of: copy, as: UnsafeMutableRawPointer.self)
  }

  func set(_ name: String, _ values: [String]) throws {
    if values.isEmpty { return }
    let pointers = try values.map { try copy($0, name) }
    setElements(descriptor.field(name), context.arena.copy(pointers), count: values.count)
  }

  private func copy(_ value: String, _ name: String) throws -> UnsafeMutableRawPointer {
    var bytes = Array(value.utf8)
    try require(!bytes.contains(0), .mismatch, "the text has a zero byte", field: name)
    bytes.append(0)
    return context.arena.copy(bytes)
  }

  func set(_ name: String, _ value: (some SpecificationMessage)?) throws {
    guard let value else { return }
    let field = descriptor.field(name)
    let pointer = try inField(name) { try pack(value, field) }
    address(field).storeBytes(of: pointer, as: UnsafeMutableRawPointer.self)
  }

  func set(_ name: String, _ values: [some SpecificationMessage]) throws {
    if values.isEmpty { return }
    let field = descriptor.field(name)
    let pointers = try values.enumerated().map { index, value in
      try inField("\(name)[\(index)]") { try pack(value, field) }
    }
    setElements(field, context.arena.copy(pointers), count: values.count)
  }

  private func pack(
    _ value: some SpecificationMessage, _ field: UnsafePointer<ProtobufCFieldDescriptor>
  ) throws -> UnsafeMutableRawPointer {
    let writer = try MessageWriter(
      Self.messageType(field), context, unknown: value.unknownFields.fields, depth: depth - 1)
    try value.write(writer)
    try writer.finish()
    return writer.message
  }

  /// A message whose fields are part of this one's Swift value. The caller calls its `finish`.
  func nested(_ name: String) throws -> MessageWriter {
    let field = descriptor.field(name)
    let writer = try nested(field, index: 0)
    address(field).storeBytes(of: writer.message, as: UnsafeMutableRawPointer.self)
    return writer
  }

  func nestedArray(_ name: String, count: Int, _ body: (Int, MessageWriter) throws -> Void) throws {
    if count == 0 { return }
    let field = descriptor.field(name)
    let pointers = try (0..<count).map { index in
      let writer = try nested(field, index: index)
      try body(index, writer)
      try writer.finish()
      return writer.message
    }
    setElements(field, context.arena.copy(pointers), count: count)
  }

  private func nested(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, index: Int
  ) throws -> MessageWriter {
    let step = UnknownFields.Step(field: field.pointee.id, index: index)
    let inner = unknown.filter { $0.path.first == step }.map { field in
      var field = field
      field.path.removeFirst()
      return field
    }
    return try MessageWriter(Self.messageType(field), context, unknown: inner, depth: depth - 1)
  }

  private static func messageType(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>
  ) -> UnsafePointer<ProtobufCMessageDescriptor> {
    guard let type = field.pointee.messageType else {
      preconditionFailure("\(String(cString: field.pointee.name)) is not a message")
    }
    return type
  }
}

/// Memory that is freed all at once.
final class Arena {
  private var blocks: [AlignedBuffer] = []
  private var next: UnsafeMutableRawPointer?
  private var rest = 0
  private static let blockByteCount = 64 << 10

  /// Zeroed memory, aligned for every C type.
  func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let rounded = max(16, (byteCount + 15) & ~15)
    if rounded > rest || next == nil {
      let size = max(rounded, Self.blockByteCount)
      let block = AlignedBuffer(byteCount: size)
      block.pointer.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      blocks.append(block)
      next = block.pointer
      rest = size
    }
    guard let address = next else { preconditionFailure("no block") }
    next = address + rounded
    rest -= rounded
    return address
  }

  func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafeMutableRawPointer {
    let address = allocate(elements.count * MemoryLayout<Element>.stride)
    elements.withUnsafeBytes { source in
      if let base = source.baseAddress { address.copyMemory(from: base, byteCount: source.count) }
    }
    return address
  }
}
