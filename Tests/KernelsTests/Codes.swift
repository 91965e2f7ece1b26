import TensorCore
import TestSupport

/// Random codes and their bytes.
struct Codes {
  let bits: Int
  let codes: [Int]
  let bytes: [UInt8]

  init(bits: Int, count: Int) {
    var generator = SplitMix64(seed: UInt64(bits * 10_000 + count))
    self.bits = bits
    codes = (0..<count).map { _ in Int.random(in: 0..<1 << bits, using: &generator) }
    bytes = packed(codes, bits: bits)
  }
}
