import ByteFormats
import CProtobufC
import TensorCore

/// Files that contain a single message.
extension SpecificationMessage {
  /// Reads an encoded message. Large payloads stay in `bytes`.
  ///
  /// - Parameter name: what the file should be, such as `a Core ML model`.
  package init(
    decoding bytes: Bytes, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    _ schema: ProtobufSchema, _ name: String
  ) throws {
    guard bytes.count > 0 else { throw ModelError(.malformed, "the file is empty") }
    // Unpacked, the nodes of a tree take some 20 times their bytes, a program's constants 50 times.
    let budget = 4 * bytes.count + 56 * min(bytes.count, 32 << 20) + (64 << 20)
    let skeleton = try ProtobufSkeleton(of: bytes, schema: schema, budget: budget)
    let allocator = UnpackAllocator(budget: budget)
    var message = try allocator.withUnpacked(skeleton.bytes, descriptor) {
      try Self(MessageReader($0, payloads: skeleton.payloads))
    }
    message?.unknownFields.positions = skeleton.unknownFields
    guard let message else {
      throw allocator.isExhausted
        ? ModelError(.limitExceeded, "unpacking it would take more than \(budget) bytes of memory")
        : ModelError(.malformed, "the file is not \(name)")
    }
    self = message
  }

  /// - Parameter name: what is written, such as `the model`.
  package func encoding(
    _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ schema: ProtobufSchema,
    _ name: String
  ) throws -> ProtobufSplice {
    let context = EncodingContext()
    let writer = try MessageWriter(descriptor, context, unknown: unknownFields.fields)
    try write(writer)
    try writer.finish()
    let message = UnsafePointer(writer.message.assumingMemoryBound(to: ProtobufCMessage.self))
    let size = protobuf_c_message_get_packed_size(message)
    let skeleton = [UInt8](unsafeUninitializedCapacity: size) { target, count in
      count = target.baseAddress.map { protobuf_c_message_pack(message, $0) } ?? 0
    }
    let encoding = try ProtobufSplice(
      skeleton: skeleton, payloads: context.payloads, schema: schema)
    try require(
      encoding.byteCount <= Limits.modelBytes, .limitExceeded,
      "\(name) would take \(encoding.byteCount) bytes; the format's limit is \(Limits.modelBytes)",
      hint: "half-precision weights take half the space")
    return encoding
  }
}
