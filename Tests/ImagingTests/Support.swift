import Files
import Foundation
import TensorCore
import TestSupport

@testable import Imaging

let fixtures = Fixtures("images")

extension Fixtures {
  /// Pillow's result for a file; see `make.py`.
  struct Expected: Decodable {
    let width: Int
    let height: Int
    let rgb: String
    let grey: String
  }

  func expected() throws -> [String: Expected] {
    let json = try Data(contentsOf: URL(filePath: path("expected.json")))
    return try JSONDecoder().decode([String: Expected].self, from: json)
  }
}

extension Image {
  var bytes: [UInt8] { samples.array(of: UInt8.self) }
}

/// Like `random_picture` in `Fixtures/images/make.py`.
func randomPicture(width: Int, height: Int, channels: Int) -> Image {
  var state = UInt32(width * 65536 + height)
  let samples = (0..<width * height * channels).map { _ in
    state = state &* 1_664_525 &+ 1_013_904_223
    return UInt8(state >> 24)
  }
  return Image(width: width, height: height, channelCount: channels, samples: Bytes(samples))
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(
    decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// CRC-32 of ISO 3309, with a table.
func crc32(_ bytes: [UInt8]) -> UInt32 {
  let table = (0..<256).map {
    (0..<8).reduce(UInt32($0)) { crc, _ in crc >> 1 ^ (crc & 1) * 0xEDB8_8320 }
  }
  return ~bytes.reduce(~0) { crc, byte in
    crc >> 8 ^ table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)]
  }
}
