import TensorCore

/// Writes a zip archive whose bytes depend only on its contents: members in the given order, all
/// dated 1 January 1980, without ZIP64.
package struct ZipWriter {
  private let write: (UnsafeRawBufferPointer) throws -> Void
  private var directory: [UInt8] = []
  private var memberCount = 0
  private var position = 0

  /// All output goes through `write`, in order.
  package init(_ write: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.write = write }

  /// Adds the member `name`, whose contents are the concatenated `pieces`.
  package mutating func add(
    _ name: String, _ pieces: [UnsafeRawBufferPointer], deflated: Bool = false
  ) throws {
    var crc: UInt32 = 0
    for piece in pieces { crc = Deflate.crc32(piece, after: crc) }
    let byteCount = pieces.reduce(0) { $0 + $1.count }
    var compressed: [UInt8]?
    if deflated {
      let whole = pieces.count == 1 ? nil : pieces.flatMap { Array($0) }
      compressed = try whole?.withUnsafeBytes(Deflate.compress) ?? Deflate.compress(pieces[0])
    }
    let storedByteCount = compressed?.count ?? byteCount
    try require(
      memberCount < 0xFFFF && name.utf8.count <= 0xFFFF
        && position + storedByteCount + directory.count + (1 << 20) < 0xFFFF_FFFF, .limitExceeded,
      "an archive of more than 4 GiB or 65534 members cannot be written")
    var fields: [UInt8] = []
    fields.append16(20)
    // Names are UTF-8; ASCII ones need no flag.
    fields.append16(name.utf8.allSatisfy { $0 < 0x80 } ? 0 : 0x0800)
    fields.append16(deflated ? 8 : 0)
    fields.append16(0)
    fields.append16(1 << 5 | 1)  // 1 January 1980
    fields.append32(Int(crc))
    fields.append32(storedByteCount)
    fields.append32(byteCount)
    fields.append16(name.utf8.count)
    fields.append16(0)

    directory.append32(Int(ZipArchive.directorySignature))
    directory.append16(20)
    directory += fields
    directory.append16(0)
    directory.append16(0)
    directory.append16(0)
    directory.append32(0)
    directory.append32(position)
    directory += name.utf8
    memberCount += 1

    var header: [UInt8] = []
    header.append32(Int(ZipArchive.localSignature))
    try send(header + fields + name.utf8)
    if let compressed {
      try send(compressed)
    } else {
      for piece in pieces {
        try write(piece)
        position += piece.count
      }
    }
  }

  /// Writes the directory, which completes the archive.
  package mutating func finish() throws {
    let start = position
    var end: [UInt8] = []
    end.append32(Int(ZipArchive.endSignature))
    end.append32(0)
    end.append16(memberCount)
    end.append16(memberCount)
    end.append32(directory.count)
    end.append32(start)
    end.append16(0)
    try send(directory + end)
  }

  private mutating func send(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes(write)
    position += bytes.count
  }
}

extension [UInt8] {
  fileprivate mutating func append16(_ value: Int) {
    for shift in [0, 8] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  fileprivate mutating func append32(_ value: Int) {
    for shift in [0, 8, 16, 24] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}
