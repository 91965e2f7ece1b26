import CProtobufC
import LibC

/// Memory for libprotobuf-c within a budget; unpacking fails if it needs more.
final class UnpackAllocator {
  private var rest: Int
  private(set) var isExhausted = false

  init(budget: Int) { rest = budget }

  /// Unpacks `bytes` and passes the message to `body`, where it is valid until `body` returns; nil
  /// if unpacking fails.
  func withUnpacked<Result>(
    _ bytes: [UInt8], _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    _ body: (UnsafeRawPointer) throws -> Result
  ) rethrows -> Result? {
    var allocator = ProtobufCAllocator(
      alloc: { context, byteCount in
        guard let context else { return nil }
        return Unmanaged<UnpackAllocator>.fromOpaque(context).takeUnretainedValue()
          .allocate(byteCount)
      },
      free: { _, pointer in free(pointer) },
      allocator_data: Unmanaged.passUnretained(self).toOpaque())
    return try withExtendedLifetime(self) {
      guard let message = protobuf_c_message_unpack(descriptor, &allocator, bytes.count, bytes)
      else { return nil }
      defer { protobuf_c_message_free_unpacked(message, &allocator) }
      return try body(UnsafeRawPointer(message))
    }
  }

  private func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    guard byteCount >= 0, byteCount <= rest else {
      isExhausted = true
      return nil
    }
    rest -= byteCount
    return malloc(max(byteCount, 1))
  }
}
