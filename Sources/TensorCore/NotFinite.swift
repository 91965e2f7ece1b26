/// NaN and the infinities: the numbers whose exponent bits are all ones.
package enum NotFinite {
  /// The number of 32-bit floats in `bytes`, little-endian at any alignment, that are not finite.
  package static func count(floats bytes: UnsafeRawBufferPointer) -> Int {
    count(bytes) { (bits: UInt32) in ((bits & 0x7FFF_FFFF) &+ 0x0080_0000) >> 31 }
  }

  /// The same for half-precision floats.
  package static func count(halves bytes: UnsafeRawBufferPointer) -> Int {
    count(bytes) { (bits: UInt16) in ((bits & 0x7FFF) &+ 0x0400) >> 15 }
  }

  /// - Parameter isOne: returns 1 for a number to count, otherwise 0.
  @inline(__always)
  private static func count<Bits: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: UnsafeRawBufferPointer, _ isOne: (Bits) -> Bits
  ) -> Int {
    guard let base = bytes.baseAddress else { return 0 }
    let size = MemoryLayout<Bits>.size
    let count = bytes.count / size
    // The count for one block fits in an element, so whole vectors can be added.
    let block = 1 << 15
    var total = 0
    for first in stride(from: 0, to: count, by: block) {
      var sum: Bits = 0
      for index in first..<min(first &+ block, count) {
        let bits = base.loadUnaligned(fromByteOffset: index &* size, as: Bits.self)
        sum &+= isOne(Bits(littleEndian: bits))
      }
      total += Int(sum)
    }
    return total
  }
}

extension FloatValues {
  /// The number of values that are NaN or infinite, counted in memory order. A mapped file's pages
  /// are dropped once they have been read.
  package var countNotFinite: Int {
    let piece = 4 << 20
    let found = stride(from: 0, to: source.count, by: piece).reduce(0) { found, begin in
      let part = source[begin..<min(begin + piece, source.count)]
      defer { part.dropPages() }
      return found + part.withUnsafeBytes { NotFinite.count(floats: $0) }
    }
    // A single value may be repeated.
    return source.count / 4 == count ? found : found * count
  }
}
