import Foundation
import TensorCore
import Testing

@testable import Imaging

@Suite struct LabelFileTests {
  private func parse(_ text: String) throws -> LabelFile {
    try LabelFile.parse(Bytes(Array(text.utf8)))
  }

  @Test func readsText() throws {
    for text in ["cat\nsea dog\n", "cat\nsea dog", "\u{FEFF}cat\r\nsea dog\r\n", "cat\r\nsea dog"] {
      #expect(try parse(text) == .strings(["cat", "sea dog"]))
    }
    #expect(
      try parse("n01440764 tench, Tinca tinca\n") == .strings(["n01440764 tench, Tinca tinca"]))
    #expect(try parse(" 7\n").count == 1)
  }

  @Test func readsJSON() throws {
    #expect(try parse(#"["cat", "d\u00f6g"]"#) == .strings(["cat", "dög"]))
    #expect(try parse(" [3, -1, 9007199254740993]") == .integers([3, -1, 9_007_199_254_740_993]))
    #expect(try parse(#"{"1": "dog", "0": "cat"}"#) == .strings(["cat", "dog"]))
    #expect(
      try parse(#"{"0": ["n01440764", "tench"], "1": ["n01443537", "goldfish"]}"#)
        == .strings(["tench", "goldfish"]))
  }

  @Test func refusesTheRest() {
    let texts = [
      "", "\n", "a\n\nb\n", "a\0b", "[", "[]", "{}", "[1.5]", "[1, \"a\"]", "[[1]]",
      #"{"0": "a", "2": "b"}"#, #"{"0": ["a"]}"#, String(repeating: "[", count: 100_000),
    ]
    for text in texts { #expect(code { _ = try parse(text) } == .malformed, "\(text.prefix(20))") }
    #expect(code { _ = try LabelFile.parse(Bytes([0x61, 0xFF] as [UInt8])) } == .malformed)
  }

  @Test func readsRealFiles() throws {
    guard let folder = Fixtures.shared("models/labels") else { return }
    for (name, count) in [("synset_words.txt", 1000), ("coco.names", 80), ("voc.names", 20)] {
      #expect(try LabelFile.read(folder + "/" + name).count == count)
    }
  }
}
