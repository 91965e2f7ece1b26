import TensorCore
import TestSupport
import Testing

@testable import Imaging

struct OrientationTests {
  /// Every orientation, stored in every possible location, is applied as in Pillow's
  /// `ImageOps.exif_transpose`.
  @Test func equalsPillow() throws {
    let lines = String(decoding: try fixtures.bytes("oriented.txt"), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count == 14)
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      let file = Bytes(try fixtures.bytes(words[0]))
      let rotated = try Image(decoding: file).rotated(Orientation(of: file))
      #expect(
        [rotated.width, rotated.height].map(String.init) == Array(words[1...2]), "\(words[0])")
      #expect(try crc32(rotated.bytes) == #require(UInt32(words[3], radix: 16)), "\(words[0])")
    }
  }

  @Test func damagedFilesAreUpright() throws {
    let names = ["6.jpg", "7_xmp.jpg", "6.png", "8_text.png", "8_ztext.png", "5_zxmp.png"]
    var random = SplitMix64(seed: 6)
    for index in 0..<6000 {
      let file = try fixtures.bytes("oriented_" + names[index % names.count])
      var damaged = Array(file.prefix(Int(random.next() % 400)))
      for _ in 0..<2 where !damaged.isEmpty {
        let place = Int(random.next() % UInt64(damaged.count))
        damaged[place] = UInt8(truncatingIfNeeded: random.next())
      }
      _ = Orientation(of: Bytes(damaged))
    }
    #expect(Orientation(of: Bytes([0xFF, 0xD8, 0xFF] as [UInt8])) == .upright)
    #expect(Orientation(of: Bytes([UInt8]())) == .upright)
  }
}
