import TensorCore
import Testing

@testable import Imaging

struct OrientationTests {
  /// Every orientation in JPEG and one in PNG, turned as Pillow's `ImageOps.exif_transpose` does.
  @Test func equalsPillow() throws {
    let lines = String(decoding: try Fixtures.bytes("oriented.txt"), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count == 9)
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      let file = Bytes(try Fixtures.bytes(words[0]))
      let turned = try Image(decoding: file).turned(Orientation(of: file))
      #expect([turned.width, turned.height].map(String.init) == Array(words[1...2]), "\(words[0])")
      #expect(try crc32(turned.bytes) == #require(UInt32(words[3], radix: 16)), "\(words[0])")
    }
  }

  @Test func damagedFilesAreUpright() throws {
    let file = try Fixtures.bytes("oriented_6.jpg")
    #expect(Orientation(of: Bytes(file)) == .turnedLeft)
    var random = SplitMix64(state: 6)
    for _ in 0..<2000 {
      var damaged = Array(file.prefix(Int(random.next() % 120)))
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
