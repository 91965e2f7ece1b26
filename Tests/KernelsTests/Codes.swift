import TensorCore
import TestSupport

/// Random codes and their bytes, with the first code in the highest bits.
struct Codes {
  let bits: Int
  let codes: [Int]
  let bytes: [UInt8]

  init(bits: Int, count: Int) {
    var generator = SplitMix64(seed: UInt64(bits * 10_000 + count))
    self.bits = bits
    codes = (0..<count).map { _ in Int.random(in: 0..<1 << bits, using: &generator) }
    let digits = codes.flatMap { code in (0..<bits).reversed().map { UInt8(code >> $0 & 1) } }
    bytes = stride(from: 0, to: digits.count, by: 8).map { start in
      (start..<start + 8).reduce(0) { $0 << 1 | ($1 < digits.count ? digits[$1] : 0) }
    }
  }
}
