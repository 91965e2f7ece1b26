import TensorCore

/// Changes PNG files byte by byte, and corrects the checksums of the chunks, so that code after the
/// checksum sees the changes.
package enum PNGMutator {
  private static let signature = 8

  package static func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var result = random.flag() ? bytes.damaged(&random) : bytes.withBytesReplaced(&random)
    guard random.below(4) > 0 else { return result }
    var position = signature
    // Length, name, content, checksum.
    while result.count - position >= 12 {
      let length = result[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= result.count - position - 12 else { break }
      let end = position + 8 + length
      let checksum = checksum(result[position + 4..<end])
      for byte in 0..<4 {
        result[end + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(24 - 8 * byte))
      }
      position = end + 4
    }
    return result
  }

  /// CRC-32 of ISO 3309.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum = ~UInt32(0)
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xEDB8_8320 }
    }
    return ~sum
  }
}
