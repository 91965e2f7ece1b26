import Files
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Imaging

@Suite struct ImageFileTests {
  @Test func equalsPillow() throws {
    let expected = try fixtures.expected()
    #expect(expected.count == 32)
    for (name, picture) in expected {
      let image = try Image.read(fixtures.path(name))
      #expect(image.width == picture.width && image.height == picture.height, "\(name)")
      #expect(hexadecimal(try image.rgb().bytes) == picture.rgb, "\(name) in colour")
      #expect(hexadecimal(try image.grayscale().bytes) == picture.grey, "\(name) in grey")
    }
  }

  /// Real files; `corpus.txt` lists Pillow's results.
  @Test(.shared("models/images")) func equalsPillowOnRealFiles() throws {
    let list = try String(contentsOfFile: fixtures.path("corpus.txt"), encoding: .utf8)
    for line in list.split(separator: "\n") {
      let fields = line.split(separator: " ").map(String.init)
      let path = Shared.path("models/images/" + fields[0])
      if fields[1] == "error" {
        #expect(errorCode { try Image.read(path) }?.exitCode == 2, "\(fields[0])")
        continue
      }
      do {
        let file = try MappedFile.read(path)
        let image = try Image(decoding: file)
        let rotated = try image.rotated(Orientation(of: file))
        let (rgb, grey, seen) = try (image.rgb(), image.grayscale(), rotated.rgb())
        let found = [
          "\(image.width)", "\(image.height)", sum(rgb), sum(grey), "\(rotated.width)",
          "\(rotated.height)", sum(seen),
        ]
        #expect(found == Array(fields[1...]), "\(line)")
      } catch {
        Issue.record("\(fields[0]): \(error)")
      }
    }
  }

  private func sum(_ image: Image) -> String {
    let sum = String(crc32(image.bytes), radix: 16)
    return String(repeating: "0", count: 8 - sum.count) + sum
  }

  @Test func namesOtherFormats() {
    let cases: [(String, ModelError.Code)] = [
      ("GIF89a", .unsupported), ("BM6\0\0\0\0\0", .unsupported), ("II*\0....", .unsupported),
      ("RIFF\u{1A}\0\0\0WEBPVP8 ", .unsupported), ("hello", .malformed), ("", .malformed),
    ]
    for (text, expected) in cases {
      #expect(errorCode { try Image(decoding: Bytes(Array(text.utf8))) } == expected, "\(text)")
    }
    do {
      _ = try Image.read("/nowhere/cat.png")
      Issue.record("was read")
    } catch { #expect((error as? ModelError)?.file == "/nowhere/cat.png") }
  }

  @Test func writesPNG() throws {
    for (width, height, channelCount) in [(1, 1, 1), (7, 5, 3), (300, 2, 1), (64, 65, 3)] {
      var random = SplitMix64(seed: UInt64(width))
      let samples = (0..<width * height * channelCount).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let image = Image(
        width: width, height: height, channelCount: channelCount, samples: Bytes(samples))
      let file = try image.pngData()
      #expect(try Image(decoding: Bytes(file)) == image)
      #expect(try image.pngData() == file)
    }
  }

  /// As in Pillow, the last 16 bytes of a PNG file, the checksum of the pixel data and the end
  /// marker, are not required, nor are the four bytes before them, which are zlib's.
  @Test func survivesEveryTruncation() throws {
    for name in ["rgb8.png", "palette4.png", "grey16_interlaced.png", "420.jpg", "cmyk.jpg"]
      + ["444_progressive.jpg", "restart.jpg"]
    {
      let bytes = try fixtures.bytes(name)
      let needed = name.hasSuffix(".png") ? bytes.count - 16 : bytes.count
      let whole = try Image(decoding: Bytes(bytes))
      for length in needed..<bytes.count {
        #expect(try Image(decoding: Bytes(Array(bytes[..<length]))) == whole)
      }
      for length in 0..<needed {
        #expect(
          errorCode { try Image(decoding: Bytes(Array(bytes[..<length]))) } == .malformed,
          "\(name), \(length) bytes")
      }
    }
  }

  /// A text chunk after the pixels must be complete, but as in Pillow, its checksum and the end
  /// marker may be missing.
  @Test func aChunkAfterThePixelsIsWhole() throws {
    let bytes = try fixtures.bytes("rgb8.png")
    var file: [UInt8] = Array(bytes.dropLast(12))
    file += [0, 0, 0, 3] as [UInt8]
    file += Array("tEXta\0b".utf8)
    let whole = try Image(decoding: Bytes(bytes))
    #expect(try Image(decoding: Bytes(Array(file))) == whole)
    #expect(try Image(decoding: Bytes(Array(file.dropLast(6)))) == whole)
    for missing in 1...3 {
      #expect(
        errorCode { try Image(decoding: Bytes(Array(file.dropLast(missing)))) } == .malformed)
    }
  }

  @Test func survivesMutations() throws {
    var random = SplitMix64(seed: 9)
    for name in try fixtures.expected().keys.sorted() {
      let bytes = try fixtures.bytes(name)
      for _ in 0..<300 {
        var mutated = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let position = Int.random(in: mutated.indices, using: &random)
          mutated[position] = [0, 0xFF, 1, UInt8.random(in: 0...255, using: &random)]
            .randomElement(using: &random)!
        }
        if name.hasSuffix(".png") { mutated = withChecksums(mutated) }
        do { _ = try Image(decoding: Bytes(mutated)) } catch is ModelError {}
      }
    }
  }

  /// With one bit per pixel, a byte becomes eight samples: a small file could be a large image.
  @Test func samplesAreInProportionToTheFile() throws {
    func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
      let body = Array(name.utf8) + content
      func bytes(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
      }
      return bytes(UInt32(content.count)) + body + bytes(crc32(body))
    }
    let header: [UInt8] = [0, 0, 0x40, 0, 0, 0, 0x40, 0, 1, 0, 0, 0, 0]
    // The compressed size of 16,384 × 16,384 bits.
    let file =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
      + chunk("IDAT", [UInt8](repeating: 0, count: 33_000)) + chunk("IEND", [])
    let error = #expect(throws: ModelError.self) { try Image(decoding: Bytes(file)) }
    #expect(error?.message.contains("does not fit into") == true, "\(String(describing: error))")
  }

  /// The file with corrected chunk checksums, so that mutations get further.
  private func withChecksums(_ file: [UInt8]) -> [UInt8] {
    var file = file
    var position = 8
    while position + 12 <= file.count {
      let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= file.count - position - 12 else { break }
      let end = position + 8 + length
      let sum = crc32(Array(file[position + 4..<end]))
      for byte in 0..<4 {
        file[end + byte] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32(byte)))
      }
      position = end + 4
    }
    return file
  }

  @Test func refusesGiants() throws {
    func resized(_ name: String, at offset: Int, _ size: [UInt8]) throws -> Bytes {
      var bytes = try fixtures.bytes(name)
      bytes.replaceSubrange(offset..<offset + size.count, with: size)
      return Bytes(name.hasSuffix(".png") ? withChecksums(bytes) : bytes)
    }
    // Width and height of the PNG header.
    let cases: [([UInt8], ModelError.Code)] = [
      ([0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF], .limitExceeded),
      ([0, 0, 0x40, 1, 0, 0, 0, 1], .limitExceeded),
      ([0, 0, 0x40, 0, 0, 0, 0x40, 0], .limitExceeded),
      ([0, 0, 0x20, 0, 0, 0, 0x20, 0], .malformed),
      ([0, 0, 0, 0, 0, 0, 0, 1], .malformed),
    ]
    for (size, expected) in cases {
      #expect(
        errorCode { try Image(decoding: resized("rgb8.png", at: 16, size)) } == expected, "\(size)")
    }
    // Height and width in the frame header of a JPEG file.
    for (name, marker) in [("420.jpg", 0xC0), ("420_progressive.jpg", 0xC2)] as [(String, UInt8)] {
      let bytes = try fixtures.bytes(name)
      let start = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, marker]) })
      for (size, expected) in [
        ([0x7F, 0xFF, 0x7F, 0xFF], .limitExceeded), ([0x20, 0, 0x20, 0], .malformed),
      ]
        as [([UInt8], ModelError.Code)]
      {
        #expect(
          errorCode { try Image(decoding: resized(name, at: start + 5, size)) } == expected,
          "\(name) \(size)")
      }
    }
  }
}
