import TensorCore
import Testing

@testable import Imaging

struct ResamplingTests {
  /// `random_picture` of `Fixtures/images/make.py`.
  private func picture(width: Int, height: Int, channels: Int) -> Image {
    var state = UInt32(width * 65536 + height)
    let samples = (0..<width * height * channels).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
    return Image(width: width, height: height, channelCount: channels, samples: Bytes(samples))
  }

  /// All filters at forty pairs of sizes, in colour and grey, with Pillow's results.
  @Test func equalsPillow() throws {
    let lines = String(decoding: try Fixtures.bytes("resized.txt"), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count == 6 * 40 * 2)
    for line in lines {
      let words = line.split(separator: " ")
      let numbers = try words[1..<6].map { try #require(Int($0)) }
      let filter = try #require(Interpolation(rawValue: String(words[0])))
      let source = picture(width: numbers[1], height: numbers[2], channels: numbers[0])
      let result = try source.resized(width: numbers[3], height: numbers[4], filter)
      #expect(
        try crc32(result.bytes) == #require(UInt32(words[6], radix: 16)), "\(line)")
    }
  }

  @Test func absurdSizesAreErrors() {
    let source = picture(width: 3, height: 2, channels: 3)
    #expect(code { _ = try source.resized(width: 1 << 20, height: 1 << 20) } == .limitExceeded)
    #expect(code { _ = try source.resized(width: 0, height: 5, .nearest) } == .malformed)
    #expect(code { _ = try source.resized(width: 5, height: -1, .lanczos) } == .malformed)
  }
}
