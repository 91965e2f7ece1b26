/// The requests as stored at the start of the shared region: the table's length (8 bytes), the
/// first value's position (8), the number of requests (4), then for each count (8), offset (8)
/// and path (4 and UTF-8); little-endian.
package enum RequestTable {
  /// A worker rejects a longer table.
  package static let byteLimit = 64 << 20
  /// The size of a table without requests.
  package static let leastByteCount = 20

  static func encode(_ requests: [HDF5Request]) -> (bytes: [UInt8], valuesStart: Int) {
    var body: [UInt8] = []
    func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(UInt32(requests.count), to: &body)
    for request in requests {
      append(Int64(request.count), to: &body)
      append(Int64(request.offset), to: &body)
      append(UInt32(request.path.utf8.count), to: &body)
      body.append(contentsOf: request.path.utf8)
    }
    // Values start in a separate cache line.
    let valuesStart = (16 + body.count + 63) & ~63
    var bytes: [UInt8] = []
    append(Int64(16 + body.count), to: &bytes)
    append(Int64(valuesStart), to: &bytes)
    return (bytes + body, valuesStart)
  }

  /// The table at the start of `bytes`, or nil if it is invalid.
  package static func decode(_ bytes: [UInt8]) -> (requests: [HDF5Request], valuesStart: Int)? {
    var position = 0
    func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
      let size = MemoryLayout<Value>.size
      guard bytes.count - position >= size else { return nil }
      defer { position += size }
      return bytes.withUnsafeBytes {
        Value(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: Value.self))
      }
    }
    guard integer(Int64.self) != nil, let start = integer(Int64.self),
      let count = integer(UInt32.self)
    else { return nil }
    var requests: [HDF5Request] = []
    for _ in 0..<count {
      guard let elements = integer(Int64.self), let offset = integer(Int64.self),
        let length = integer(UInt32.self), Int(length) <= bytes.count - position
      else { return nil }
      let path = String(decoding: bytes[position..<position + Int(length)], as: UTF8.self)
      position += Int(length)
      requests.append(HDF5Request(path: path, count: Int(elements), offset: Int(offset)))
    }
    return (requests, Int(start))
  }
}
