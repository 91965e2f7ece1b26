import Files
import Foundation
import TensorCore

@testable import Imaging

enum Fixtures {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  static let folder = root + "/Fixtures/images/"

  static func bytes(_ name: String) throws -> [UInt8] {
    try MappedFile.read(folder + name).array(of: UInt8.self)
  }

  /// What Pillow reads from a file; see `make.py`.
  struct Expected: Decodable {
    let width: Int
    let height: Int
    let rgb: String
    let grey: String
  }

  static func expected() throws -> [String: Expected] {
    let json = try Data(contentsOf: URL(filePath: folder + "expected.json"))
    return try JSONDecoder().decode([String: Expected].self, from: json)
  }

  /// The folder of real files beside the checkout, where there is one.
  static func shared(_ path: String) -> String? {
    let folder = ProcessInfo.processInfo.environment["ASSAY_SHARED"] ?? root + "/../shared"
    guard FileManager.default.fileExists(atPath: folder + "/" + path) else {
      print("skipped: \(folder)/\(path) is not here")
      return nil
    }
    return folder + "/" + path
  }
}

extension Image {
  var bytes: [UInt8] { samples.array(of: UInt8.self) }
}

/// `random_picture` of `Fixtures/images/make.py`.
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

/// CRC-32 of ISO 3309, bit by bit over a table.
func crc32(_ bytes: [UInt8]) -> UInt32 {
  let table = (0..<256).map {
    (0..<8).reduce(UInt32($0)) { crc, _ in crc >> 1 ^ (crc & 1) * 0xEDB8_8320 }
  }
  return ~bytes.reduce(~0) { crc, byte in
    crc >> 8 ^ table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)]
  }
}

func code(_ body: () throws -> Void) -> ModelError.Code? {
  do { try body() } catch { return (error as? ModelError)?.code }
  return nil
}

/// Steele, Lea and Flood's SplitMix64: the same sequence everywhere.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
