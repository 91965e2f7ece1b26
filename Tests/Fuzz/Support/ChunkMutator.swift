import TensorCore

/// Changes the positions, sizes and filters of data in an HDF5 file: a word that may be an address
/// or a size becomes another one; a compressed stream ends earlier or starts later.
package enum ChunkMutator {
  /// One to three changes.
  package static func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var result = bytes
    for _ in 0...random.below(3) { change(&result, &random) }
    return result
  }

  private static func change(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
    let width = random.flag() ? 8 : 4
    // Words are at multiples of four; those too large for the file are text or numbers.
    let places = stride(from: 0, to: bytes.count - width, by: 4).filter {
      let word = word(bytes, $0, width)
      return word > 0 && word <= UInt64(bytes.count) || word == UInt64.max >> (64 - 8 * width)
    }
    guard !places.isEmpty else { return }
    let place = random.pick(places)
    let old = word(bytes, place, width)
    let new: UInt64
    switch random.below(8) {
    case 0: new = 0
    case 1: new = .max
    case 2: new = UInt64(bytes.count)
    case 3: new = UInt64(truncatingIfNeeded: HostileValues.integer(&random))
    case 4, 5: new = word(bytes, random.pick(places), width)
    case 6:
      let streams = bytes.indices.dropLast(8).filter { bytes[$0] == 0x78 && bytes[$0 + 1] != 0 }
      guard !streams.isEmpty else { return }
      let stream = random.pick(streams) + 2 + random.below(6)
      bytes[stream] ^= UInt8(1 << random.below(8))
      return
    default: new = random.flag() ? old &+ UInt64(random.below(9)) : old &- UInt64(random.below(9))
    }
    for index in 0..<width {
      bytes[place + index] = UInt8(truncatingIfNeeded: new >> UInt64(8 * index))
    }
  }

  private static func word(_ bytes: [UInt8], _ place: Int, _ width: Int) -> UInt64 {
    (0..<width).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
  }
}
