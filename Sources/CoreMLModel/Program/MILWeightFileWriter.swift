import LibC
import TensorCore

/// Collects the values of a weight file in the memory of the file itself. Equal values of the same
/// type are stored once.
package struct MILWeightFileWriter {
  private struct Key: Hashable {
    var type: MILDataType
    var hash: Int
  }

  private struct Entry {
    /// The offset of the description of the values.
    var offset: Int
    var byteCount: Int
  }

  private let memory = GrowingBuffer()
  private var known: [Key: [Entry]] = [:]
  private var count: UInt32 = 0
  private var end = MILWeightFile.alignment

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// Adds `count` elements and returns the offset by which values refer to them.
  ///
  /// - Parameter bytes: the elements as stored in the file; those of less than 8 bits are packed
  ///   from the lowest bits of each byte up.
  package mutating func append(_ bytes: Bytes, _ type: MILDataType, count: Int) throws -> Int {
    try append(type, byteCount: bytes.count, count: count) { target in
      bytes.withUnsafeBytes { source in
        if let base = source.baseAddress { target.copyMemory(from: base, byteCount: source.count) }
      }
    }
  }

  /// The same for floats, copied only once.
  package mutating func append(_ values: FloatValues) throws -> Int {
    try append(.float32, byteCount: values.count * 4, count: values.count) {
      try values.copyOnce(to: $0.bindMemory(to: Float.self, capacity: values.count))
    }
  }

  private mutating func append(
    _ type: MILDataType, byteCount: Int, count: Int,
    _ write: (UnsafeMutableRawPointer) throws -> Void
  ) throws -> Int {
    let unit = MILWeightFile.alignment
    let start = end + unit
    let next = start + (byteCount + unit - 1) / unit * unit
    let base = try memory.grow(to: next)
    if isEmpty { store(MILWeightFile.version, at: 4, base) }
    try write(base + start)
    (base + start + byteCount).initializeMemory(
      as: UInt8.self, repeating: 0, count: next - start - byteCount)
    let bytes = UnsafeRawBufferPointer(start: base + start, count: byteCount)
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    let key = Key(type: type, hash: hasher.finalize())
    let same = (known[key] ?? []).first {
      $0.byteCount == byteCount && memcmp(base + $0.offset + unit, base + start, byteCount) == 0
    }
    if let same { return same.offset }
    let unused = type.bitWidth.map { $0 < 8 ? byteCount * 8 - count * $0 : 0 } ?? 0
    (base + end).initializeMemory(as: UInt8.self, repeating: 0, count: unit)
    store(MILWeightFile.sentinel, at: end, base)
    store(MILWeightFile.number(of: type) ?? 0, at: end + 4, base)
    store(UInt64(byteCount), at: end + 8, base)
    store(UInt64(start), at: end + 16, base)
    store(UInt64(unused), at: end + 24, base)
    known[key, default: []].append(Entry(offset: end, byteCount: byteCount))
    self.count += 1
    store(self.count, at: 0, base)
    defer { end = next }
    return end
  }

  private func store<Value: FixedWidthInteger & BitwiseCopyable>(
    _ value: Value, at offset: Int, _ base: UnsafeMutableRawPointer
  ) {
    base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  /// The weight file. Nothing may be added afterwards.
  package func file() throws -> MILWeightFile {
    try MILWeightFile(Bytes(base: memory.grow(to: end), count: end, owner: memory))
  }
}
