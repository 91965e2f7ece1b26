import TensorCore
import TestSupport
import Testing

@testable import Imaging

struct ResamplingTests {
  /// All filters for forty pairs of sizes, in color and gray, compared with Pillow.
  @Test func equalsPillow() throws {
    let lines = String(decoding: try fixtures.bytes("resized.txt"), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count == 6 * 40 * 2)
    for line in lines {
      let words = line.split(separator: " ")
      let numbers = try words[1..<6].map { try #require(Int($0)) }
      let filter = try #require(Interpolation(rawValue: String(words[0])))
      let source = randomPicture(width: numbers[1], height: numbers[2], channels: numbers[0])
      let result = try source.resized(width: numbers[3], height: numbers[4], filter)
      #expect(
        try crc32(result.bytes) == #require(UInt32(words[6], radix: 16)), "\(line)")
    }
  }

  @Test func absurdSizesAreErrors() {
    let source = randomPicture(width: 3, height: 2, channels: 3)
    #expect(errorCode { try source.resized(width: 1 << 20, height: 1 << 20) } == .limitExceeded)
    #expect(errorCode { try source.resized(width: 0, height: 5, .nearest) } == .malformed)
    #expect(errorCode { try source.resized(width: 5, height: -1, .lanczos) } == .malformed)
  }
}
