import Foundation
import TensorCore
import Testing

@testable import DarknetImport

/// Damaged configurations and weights: an error or a network, never a trap.
@Suite struct MutationTests {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/darknet")

  private struct Random {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % max(1, bound)
    }
  }

  /// What numbers in hostile files look like.
  private static let values = [
    "-1", "0", "1", "2147483647", "2147483648", "-2147483648", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "1e308", "nan", "inf", "-0", "", ",", ",,,",
    "1,2,3,4,5,6,7,8,9", "16384", "16385", "65536", "99999",
  ]

  private static func damaged(_ text: String, _ random: inout Random) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for _ in 0...random.next(3) {
      let place = random.next(lines.count)
      switch random.next(6) {
      case 0: lines.remove(at: place)
      case 1: lines.insert(lines[random.next(lines.count)], at: place)
      case 2: lines.swapAt(place, random.next(lines.count))
      case 3:
        var bytes = Array(lines[place].utf8)
        if !bytes.isEmpty { bytes[random.next(bytes.count)] = UInt8(random.next(256)) }
        lines[place] = String(decoding: bytes, as: UTF8.self)
      default:
        if let equals = lines[place].firstIndex(of: "=") {
          lines[place] = lines[place][...equals] + values[random.next(values.count)]
        }
      }
      if lines.isEmpty { lines = [""] }
    }
    return lines.joined(separator: "\n")
  }

  @Test func configurations() throws {
    let layers = Self.folder.appending(path: "layers")
    let names = try FileManager.default.contentsOfDirectory(atPath: layers.path)
      .filter { $0.hasSuffix(".cfg") }.sorted()
    var random = Random(state: 5)
    var converted = 0
    for name in names {
      let path = layers.appending(path: name)
      let text = try String(contentsOf: path, encoding: .utf8)
      let weights = try? [UInt8](
        Data(contentsOf: path.deletingPathExtension().appendingPathExtension("weights")))
      for _ in 0..<40 {
        let damaged = Self.damaged(text, &random)
        do {
          _ = try convert(damaged, weights: weights ?? weightBytes(0))
          converted += 1
        } catch is ModelError {}
      }
    }
    #expect(converted > 100)
  }

  @Test func weights() throws {
    let path = Self.folder.appending(path: "layers/yolo")
    let text = try String(contentsOf: path.appendingPathExtension("cfg"), encoding: .utf8)
    let original = try [UInt8](Data(contentsOf: path.appendingPathExtension("weights")))
    var random = Random(state: 9)
    for round in 0..<400 {
      var bytes = original
      if round % 3 == 0 { bytes = Array(bytes.prefix(random.next(bytes.count))) }
      if round % 3 == 1 { bytes += [UInt8](repeating: 7, count: random.next(100)) }
      for _ in 0..<(bytes.isEmpty ? 0 : random.next(6)) {
        bytes[random.next(round % 2 == 0 ? min(20, bytes.count) : bytes.count)] =
          UInt8(random.next(256))
      }
      do { _ = try convert(text, weights: bytes) } catch is ModelError {}
    }
  }
}
