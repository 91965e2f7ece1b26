import TensorCore

/// Collects the values of a weight file. Equal values of one type are stored once.
package struct MILWeightFileWriter {
  private struct Entry {
    var type: MILDataType
    var bytes: Bytes
    /// The bits of the last byte that no element uses.
    var unusedBits: Int
    /// Where the description of the values starts.
    var offset: Int
  }

  private struct Key: Hashable {
    var type: MILDataType
    var count: Int
    var hash: Int
  }

  private var entries: [Entry] = []
  private var known: [Key: [Int]] = [:]
  private var end = MILWeightFile.alignment

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  /// Adds `count` elements and returns the offset that names them.
  ///
  /// - Parameter bytes: the elements as the file stores them; those of less than 8 bits follow one
  ///   another, the lowest bits of a byte first.
  package mutating func append(_ bytes: Bytes, _ type: MILDataType, count: Int) throws -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    let key = Key(type: type, count: bytes.count, hash: hasher.finalize())
    for index in known[key] ?? [] where entries[index].bytes == bytes {
      return entries[index].offset
    }
    let unused = type.bitWidth.map { $0 < 8 ? bytes.count * 8 - count * $0 : 0 } ?? 0
    let offset = end
    entries.append(Entry(type: type, bytes: bytes, unusedBits: unused, offset: offset))
    known[key, default: []].append(entries.count - 1)
    let unit = MILWeightFile.alignment
    end = offset + unit + (bytes.count + unit - 1) / unit * unit
    return offset
  }

  /// The weight file.
  package func file() throws -> MILWeightFile {
    let buffer = try AlignedBuffer(checkedByteCount: end)
    let target = UnsafeMutableRawBufferPointer(start: buffer.pointer, count: end)
    target.initializeMemory(as: UInt8.self, repeating: 0)
    func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
      target.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }
    store(UInt32(entries.count), at: 0)
    store(MILWeightFile.version, at: 4)
    for entry in entries {
      let start = entry.offset + MILWeightFile.alignment
      store(MILWeightFile.sentinel, at: entry.offset)
      store(MILWeightFile.number(of: entry.type) ?? 0, at: entry.offset + 4)
      store(UInt64(entry.bytes.count), at: entry.offset + 8)
      store(UInt64(start), at: entry.offset + 16)
      store(UInt64(entry.unusedBits), at: entry.offset + 24)
      entry.bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[start..<start + $0.count]).copyMemory(
          from: $0)
      }
    }
    return try MILWeightFile(
      Bytes(base: UnsafeRawPointer(buffer.pointer), count: end, owner: buffer))
  }
}
