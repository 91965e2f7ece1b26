import CZlib
import TensorCore

/// Deflate streams and the checksum of zip archives, based on zlib.
package enum Deflate {
  /// CRC-32 of ISO 3309, as used by zip and PNG.
  static func crc32(_ bytes: Bytes) -> UInt32 { bytes.withUnsafeBytes { crc32($0) } }

  static func crc32(_ bytes: UnsafeRawBufferPointer, after crc: UInt32 = 0) -> UInt32 {
    guard let base = bytes.baseAddress else { return crc }
    return UInt32(
      truncatingIfNeeded: crc32_z(
        uLong(crc), base.assumingMemoryBound(to: UInt8.self), bytes.count))
  }

  /// Expands `stored` to exactly `byteCount` bytes; nil if the stream is damaged or anything is
  /// left over on either side.
  ///
  /// - Parameter hasHeader: whether the stream has zlib's header and checksum, as in HDF5.
  package static func expand(
    _ stored: Bytes, byteCount: Int, hasHeader: Bool = false
  ) throws -> Bytes? {
    let target = try AlignedBuffer(checkedByteCount: byteCount)
    var stream = z_stream()
    let bits: Int32 = hasHeader ? 15 : -15
    guard inflateInit2_(&stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw ModelError(.outOfMemory, "cannot start zlib") }
    defer { inflateEnd(&stream) }
    let status = stored.withUnsafeBytes { source -> Int32 in
      var read = 0
      var written = 0
      // One byte more than expected, to detect a longer stream.
      var surplus: UInt8 = 0
      return withUnsafeMutablePointer(to: &surplus) { surplus in
        while true {
          let input = min(source.count - read, Self.piece)
          stream.next_in = source.baseAddress.map {
            UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self) + read)
          }
          stream.avail_in = uInt(input)
          let room = min(byteCount - written, Self.piece)
          stream.next_out =
            room > 0 ? target.pointer.assumingMemoryBound(to: UInt8.self) + written : surplus
          stream.avail_out = uInt(max(room, 1))
          let status = inflate(&stream, Z_NO_FLUSH)
          let taken = input - Int(stream.avail_in)
          let made = max(room, 1) - Int(stream.avail_out)
          read += taken
          written += made
          if written > byteCount { return Z_DATA_ERROR }
          if status == Z_STREAM_END {
            return written == byteCount && read == source.count ? Z_OK : Z_DATA_ERROR
          }
          if status != Z_OK || taken + made == 0 { return status == Z_OK ? Z_BUF_ERROR : status }
        }
      }
    }
    return status == Z_OK ? Bytes(base: target.pointer, count: byteCount, owner: target) : nil
  }

  /// `bytes` as a raw deflate stream at zlib's default level.
  static func compress(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
    try require(
      bytes.count <= Int(UInt32.max), .limitExceeded, "more than 4 GiB cannot be compressed at once"
    )
    var stream = z_stream()
    try require(
      deflateInit2_(
        &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK, .outOfMemory, "cannot start zlib")
    defer { deflateEnd(&stream) }
    let bound = Int(deflateBound(&stream, uLong(bytes.count)))
    return try [UInt8](unsafeUninitializedCapacity: bound) { target, count in
      stream.next_in = bytes.baseAddress.map {
        UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self))
      }
      stream.avail_in = uInt(bytes.count)
      stream.next_out = target.baseAddress
      stream.avail_out = uInt(clamping: bound)
      guard deflate(&stream, Z_FINISH) == Z_STREAM_END else {
        throw ModelError(.internal, "zlib could not compress \(bytes.count) bytes")
      }
      count = bound - Int(stream.avail_out)
    }
  }

  private static let piece = 1 << 30
}
