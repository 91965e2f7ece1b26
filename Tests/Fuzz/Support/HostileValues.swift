import TensorCore

/// Values that find bugs more often than random ones do.
package enum HostileValues {
  /// Sizes at the limits of integers and of `Limits`, and factors of overflowing products.
  package static let integers = [
    0, 1, 2, 3, 5, 7, 8, 16, 255, 256, 4096, 16_384, 16_385, 65_535, 65_536, 1 << 20, 1 << 24,
    (1 << 24) + 1, 1 << 31, (1 << 31) - 1, (1 << 31) + 1, 1 << 32, 1 << 46, 1 << 61, 1 << 62,
    Int.max, Int.max - 1, Int.min, Int.min + 1, -1, -2, -3, -128, -(1 << 31), 3_037_000_500,
  ]

  package static let numbers: [Double] = [
    0, -0.0, 1, -1, 0.5, 2, 1e-45, 1e-38, 1e38, -1e38, 3.5e38, 1e300, -1e300,
    .leastNonzeroMagnitude, .infinity,
    -.infinity, .nan, 2_147_483_648, 9.3e18, -9.3e18, 1e-7, 16_777_217,
  ]

  package static let strings = [
    "", " ", "a", "-", "/", "..", "a/b", "\0", "\u{1B}[2J", "a\nerror: b", "\u{202E}x", "é", "0",
    "-1", "9223372036854775808", "nan", "None", "null", String(repeating: "x", count: 5000),
  ]

  /// Usually a plausible size.
  package static func integer(_ random: inout SplitMix64) -> Int {
    random.below(3) > 0 ? random.below(9) : random.pick(integers)
  }

  package static func number(_ random: inout SplitMix64) -> Double {
    random.below(3) > 0 ? Double(random.below(17) - 8) / 4 : random.pick(numbers)
  }

  /// Usually a word of the seeds.
  package static func string(_ random: inout SplitMix64, _ words: [String]) -> String {
    words.isEmpty || random.below(4) == 0 ? random.pick(strings) : random.pick(words)
  }
}
