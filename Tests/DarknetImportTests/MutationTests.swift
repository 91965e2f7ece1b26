import TensorCore
import TestSupport
import Testing

@testable import DarknetImport

/// Damaged configurations and weights produce an error or a network, never a trap.
@Suite struct MutationTests {
  /// Typical numbers in hostile files.
  private static let values = [
    "-1", "0", "1", "2147483647", "2147483648", "-2147483648", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "1e308", "nan", "inf", "-0", "", ",", ",,,",
    "1,2,3,4,5,6,7,8,9", "16384", "16385", "65536", "99999",
  ]

  private static func damaged(_ text: String, _ random: inout SplitMix64) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for _ in 0...random.below(3) {
      let place = random.below(lines.count)
      switch random.below(6) {
      case 0: lines.remove(at: place)
      case 1: lines.insert(lines[random.below(lines.count)], at: place)
      case 2: lines.swapAt(place, random.below(lines.count))
      case 3:
        var bytes = Array(lines[place].utf8)
        if !bytes.isEmpty { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
        lines[place] = String(decoding: bytes, as: UTF8.self)
      default:
        if let equals = lines[place].firstIndex(of: "=") {
          lines[place] = lines[place][...equals] + values[random.below(values.count)]
        }
      }
      if lines.isEmpty { lines = [""] }
    }
    return lines.joined(separator: "\n")
  }

  @Test func configurations() throws {
    let names = fixtures.names.filter { $0.hasSuffix(".cfg") }
    var random = SplitMix64(seed: 5)
    var converted = 0
    for name in names {
      let text = try String(decoding: fixtures.bytes(name), as: UTF8.self)
      let weights = try? fixtures.bytes(name.dropLast(3) + "weights")
      for _ in 0..<10 {
        let damaged = Self.damaged(text, &random)
        do {
          _ = try convert(damaged, weights: weights ?? weightBytes(0))
          converted += 1
        } catch is ModelError {}
      }
    }
    #expect(converted > 25)
  }

  @Test func weights() throws {
    let text = try String(decoding: fixtures.bytes("yolo.cfg"), as: UTF8.self)
    let original = try fixtures.bytes("yolo.weights")
    var random = SplitMix64(seed: 9)
    for round in 0..<400 {
      var bytes = original
      if round % 3 == 0 { bytes = Array(bytes.prefix(random.below(bytes.count))) }
      if round % 3 == 1 { bytes += [UInt8](repeating: 7, count: random.below(100)) }
      for _ in 0..<(bytes.isEmpty ? 0 : random.below(6)) {
        bytes[random.below(round % 2 == 0 ? min(20, bytes.count) : bytes.count)] =
          UInt8(random.below(256))
      }
      do { _ = try convert(text, weights: bytes) } catch is ModelError {}
    }
  }
}
