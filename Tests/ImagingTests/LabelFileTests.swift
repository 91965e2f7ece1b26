import Foundation
import TensorCore
import TestSupport
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

  /// Numbers and quotes are removed if every line has them; otherwise they are kept.
  @Test func takesOffNumbersAndQuotes() throws {
    let pairs: [(String, [String])] = [
      ("'a'\n'b'\n", ["a", "b"]), ("\"a\"\n\"it's\"", ["a", "it's"]), ("'a'\nb", ["'a'", "b"]),
      ("0: a\n1: b", ["a", "b"]), ("1\ta\n2\tb", ["a", "b"]), ("0,a\n1,b, c", ["a", "b, c"]),
      ("0 n01440764 a\n1 n01443537 b", ["n01440764 a", "n01443537 b"]),
      ("1 star\n2 stars", ["1 star", "2 stars"]), ("0\n1", ["0", "1"]),
      ("0: a\n2: b", ["0: a", "2: b"]), ("2: a\n3: b", ["2: a", "3: b"]),
      (
        "{0: 'tench, Tinca tinca',\n 1: \"jack-o'-lantern\"}\n",
        ["tench, Tinca tinca", "jack-o'-lantern"]
      ),
    ]
    for (text, labels) in pairs { #expect(try parse(text) == .strings(labels), "\(text)") }
  }

  @Test func splitsIdentifiersOff() {
    let split = WordNet.split("n02123045 tabby, tabby cat")
    #expect(split?.identifier == "n02123045" && split?.name == "tabby, tabby cat")
    for label in [
      "tabby", "n0212304 tabby", "n02123045", "n02123045 ", "n02123045tabby", "m02123045 x",
    ] {
      #expect(WordNet.split(label) == nil, "\(label)")
    }
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
    for text in texts { #expect(errorCode { try parse(text) } == .malformed, "\(text.prefix(20))") }
    #expect(errorCode { try LabelFile.parse(Bytes([0x61, 0xFF] as [UInt8])) } == .malformed)
  }

  private let tissue = "toilet tissue, toilet paper, bathroom tissue"

  @Test(.shared("models/labels")) func readsRealFiles() throws {
    let folder = Shared.path("models/labels")
    // The file, the number of lines, and the first and last label.
    let files: [(String, Int, String, String)] = [
      ("coco.names", 80, "person", "toothbrush"), ("coco_labels.txt", 90, "person", "toothbrush"),
      ("imagenet-classes.txt", 1000, "tench, Tinca tinca", tissue),
      ("imagenet_labellist.txt", 1001, "background", tissue),
      ("imagenet_slim_labels_1001.txt", 1001, "dummy", "toilet tissue"),
      ("synset2015.txt", 1000, "n02119789 kit fox, Vulpes macrotis", "n03255030 dumbbell"),
      ("synset_with_index.txt", 1000, "n01440764 tench, Tinca tinca", "n15075141 " + tissue),
      ("synset_words.txt", 1000, "n01440764 tench, Tinca tinca", "n15075141 " + tissue),
      ("voc.names", 20, "aeroplane", "tvmonitor"),
    ]
    for (name, count, first, last) in files {
      guard case .strings(let labels) = try LabelFile.read(folder + "/" + name) else {
        Issue.record("\(name) holds no names")
        continue
      }
      #expect(labels.count == count && labels.first == first && labels.last == last, "\(name)")
    }
  }

  @Test func thereAreAtMostAMillion() {
    let lines = Bytes([UInt8](repeating: 0x0A, count: Limits.classLabels + 1) + [0x61])
    let error = #expect(throws: ModelError.self) { try LabelFile.parse(lines) }
    #expect(error?.code == .limitExceeded)
  }
}
