import Foundation
import TensorCore
import TestSupport
import Testing

@testable import ByteFormats

@Suite struct TextArrayTests {
  private func parse(_ text: String, prefersJSON: Bool = false) throws -> ArraySet {
    try ArraySet.parse(Bytes(Array(text.utf8)), prefersJSON: prefersJSON)
  }

  private func number(_ text: String) -> (value: Float, length: Int)? {
    Array(text.utf8).withUnsafeBytes { DecimalNumber.parse($0[...]) }
  }

  @Test func numbersAreTheNearestFloats() throws {
    var random = SplitMix64(seed: 5)
    var texts = [
      "0", "-0", "1", "16777217", "16777219", "33554435", "1e10", "1e-45", "7e-46",
      "1.17549435e-38",
      "3.4028235e38", "3.4028236e38", "1e39", "-1e400", "1e-400", ".5", "5.", "+2.5E+3", "1e5x",
      "0.1000000000000000055511151231257827", "100000000000000000000000000000000000000",
      "0.00000000000000000000000000000000000001", "1.00000005960464477539062500001",
      "1.000000059604644775390625", "1.0000000596046447753906249999", "9007199254740993",
      "123456789012345678901234567890e-20",
    ]
    for _ in 0..<20_000 {
      let value = Float(bitPattern: UInt32.random(in: 0..<0x7F80_0000, using: &random))
      texts.append("\(value)")
      texts.append("\(Double(value) * 1.000000001)")
      // The midpoint of two floats, and values slightly below and above it.
      let middle = (Double(value) + Double(value.nextUp)) / 2
      texts += ["\(middle)", "\(middle.nextUp)", "-\(middle.nextDown)"]
    }
    for text in texts where !text.contains("inf") {
      // The C library uses the default locale.
      let expected = strtof(text, nil)
      let found = try #require(number(text))
      #expect(found.value.bitPattern == expected.bitPattern, "\(text)")
      #expect(found.length == text.utf8.count - (text.hasSuffix("x") ? 1 : 0))
    }
  }

  @Test func numbersHaveAGrammar() {
    for text in ["", "-", ".", "+.", "e5", "x", "--1", "info", "nano", "infinit", "0x10 "] {
      #expect(number(text)?.length ?? 0 == (text == "0x10 " ? 1 : 0), "\(text)")
    }
    #expect(number("1e")?.length == 1)
    #expect(number("-inf")?.value == -.infinity)
    #expect(number("Infinity,")?.length == 8)
    #expect(number("nan")?.value.isNaN == true)
  }

  @Test func readsTables() throws {
    let cases: [(String, [Int], [Float])] = [
      ("1,2,3\n4,5,6\n", [2, 3], [1, 2, 3, 4, 5, 6]),
      ("\u{FEFF}1, 2 ,3\r\n 4,5,6", [2, 3], [1, 2, 3, 4, 5, 6]),
      ("1\n2\n\n3\n", [3], [1, 2, 3]),
      ("x;y\n1;2\n3;4", [2, 2], [1, 2, 3, 4]),
      ("\"a, b\",info\n\"1\",\" 2 \"\n", [1, 2], [1, 2]),
      ("# made by savetxt\n1.5e+00 -2.0e+00\n3   4\n", [2, 2], [1.5, -2, 3, 4]),
      ("1\t2\t\n3\t4\t\n", [2, 2], [1, 2, 3, 4]),
      ("7", [1], [7]),
    ]
    for (text, shape, values) in cases {
      let array = try #require(try parse(text).arrays.first)
      #expect(array.tensor == Tensor(shape: shape, values), "\(text)")
    }
    #expect(try parse("nan,inf").arrays[0].tensor.elements[1] == .infinity)
  }

  @Test func refusesBadTables() {
    for text in [
      "", "\n", "a,b\n", "1,2\n3\n", "1,x\n", "1,2,,3", "1 2,3", "1,\"2", "1,0x10", "1\0",
    ] {
      #expect(errorCode { try parse(text) } == .malformed, "\(text)")
    }
  }

  @Test func readsJSON() throws {
    let cases: [(String, [(String?, [Int], [Float])])] = [
      ("[[1, 2, 3], [4, 5, 6]]", [(nil, [2, 3], [1, 2, 3, 4, 5, 6])]),
      (" [ ] ", [(nil, [0], [])]),
      ("[[], []]", [(nil, [2, 0], [])]),
      ("[[[true], [false]]]", [(nil, [1, 2, 1], [1, 0])]),
      (
        #"{"z": 1.5, "a\/\u00e9\ud83d\ude00": [-Infinity]}"#,
        [("z", [], [1.5]), ("a/é😀", [1], [-.infinity])]
      ),
      ("{}", []),
    ]
    for (text, expected) in cases {
      let set = try parse(text)
      #expect(set.arrays.map(\.name) == expected.map(\.0), "\(text)")
      #expect(set.arrays.map(\.tensor) == expected.map { Tensor(shape: $0.1, $0.2) }, "\(text)")
    }
    for text in ["[NaN]", "[\"NaN\"]"] {
      #expect(try parse(text).arrays[0].tensor.elements[0].isNaN)
    }
    #expect(try parse("[\"-Infinity\", \"Infinity\"]").arrays[0].tensor.elements[0] == -.infinity)
    #expect(try parse("-2e0 ", prefersJSON: true).arrays[0].tensor == Tensor(shape: [], [-2]))
  }

  @Test func refusesBadJSON() {
    let texts = [
      "[1, 2", "[1 2]", "[1,]", "[,]", "[[1], [1, 2]]", "[1, [2]]", "[[1], 2]", "[[], [1]]",
      "[[[]], []]", "[[], [[]]]", "[\"1\"]", "[\"NaN]", "[\"nan\"]", "[\"NaN \"]", "[null]",
      "{\"a\" 1}", "{\"a\": 1,}", "{a: 1}",
      "{\"a\": 1, \"a\": 2}", "{\"a\": {\"b\": 1}}", "[1] [2]", "{\"\\ud800\": 1}",
      "{\"\\x\": 1}", "{\"a\nb\": 1}", "{\"", "[", "{",
    ]
    for text in texts { #expect(errorCode { try parse(text) } == .malformed, "\(text)") }
    let deep = String(repeating: "[", count: 100_000)
    #expect(errorCode { try parse(deep) } == .limitExceeded)
  }

  @Test func writesWhatItReads() throws {
    let values: [Float] = [
      0, -0.0, 1, 0.1, .leastNonzeroMagnitude, 3.4028235e38, 1e16, -.infinity, 123456.79, 1 / 3,
    ]
    let set = ArraySet([
      NamedArray(Tensor(shape: [2, 5], values), name: "a \"quoted\"\n\\name"),
      NamedArray(Tensor(shape: [], [7]), name: "b", type: .uint8),
      NamedArray(Tensor(shape: [2, 0, 3], []), name: "c"),
    ])
    var text: [UInt8] = []
    try set.write(.json) { text += $0 }
    #expect(String(decoding: text, as: UTF8.self).contains("\"b\": 7"))
    let back = try ArraySet.parse(Bytes(text))
    #expect(back.arrays.map(\.name) == set.arrays.map(\.name))
    for (a, b) in zip(back.arrays, set.arrays) where b.name != "c" {
      #expect(a.tensor.shape == b.tensor.shape)
      #expect(a.tensor.elements.map(\.bitPattern) == b.tensor.elements.map(\.bitPattern))
    }
    // Strict JSON, with strings for values that JSON numbers cannot express.
    let strict = ArraySet([
      NamedArray(Tensor(shape: [5], [0.25, 1e-20, .nan, .infinity, -.infinity]))
    ])
    var json: [UInt8] = []
    try strict.write(.json) { json += $0 }
    let read = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [Any])
    #expect(read.compactMap { $0 as? Double } == [0.25, 1e-20])
    #expect(read.compactMap { $0 as? String } == ["NaN", "Infinity", "-Infinity"])

    var table: [UInt8] = []
    try ArraySet([set.arrays[0]]).write(.csv) { table += $0 }
    #expect(try ArraySet.parse(Bytes(table)).arrays[0].tensor == set.arrays[0].tensor)
  }

  @Test func choosesTheFormatByExtension() throws {
    try withTemporaryFolder { folder in
      let array = NamedArray(Tensor(shape: [2, 2], [1, 2, 3, 4]))
      for name in ["a.npy", "a.npz", "a.json", "a.CSV"] {
        try ArraySet([array]).write(to: folder + "/" + name)
        let back = try ArraySet.read(folder + "/" + name)
        #expect(back.arrays.map(\.tensor) == [array.tensor], "\(name)")
      }
      let two = ArraySet([array, array])
      #expect(errorCode { try two.write(to: folder + "/b.npy") } == .mismatch)
      #expect(errorCode { try two.write(to: folder + "/b.txt") } == .usage)
      #expect(errorCode { try ArraySet.read(folder + "/none.npy") } == .missingFile)
    }
  }

  @Test func survivesTruncationsAndMutations() throws {
    let table = Array("a,b,c\r\n1,2.5,\"3\"\n-4e3,nan,6\n".utf8)
    let json = Array(#"{"a\u00e9": [[1, 2.5], [NaN, -4e3]], "b": 7, "c": [true, []]}"#.utf8)
    for (index, bytes) in [table, json].enumerated() {
      for length in bytes.indices {
        do { _ = try ArraySet.parse(Bytes(Array(bytes[..<length]))) } catch is ModelError {}
      }
      for mutated in damaged(bytes, count: 5000, seed: UInt64(index)) {
        do { _ = try ArraySet.parse(Bytes(mutated)) } catch is ModelError {}
      }
    }
  }

  @Test func readsMillionsOfNumbers() throws {
    let row = Array("[".utf8) + Array("1.2345678, ".utf8) + Array("-9.87654321012345e-05]".utf8)
    var text = Array("[".utf8)
    for index in 0..<1_000_000 {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text += row
    }
    text.append(UInt8(ascii: "]"))
    let start = ContinuousClock.now
    let array = try ArraySet.parse(Bytes(text)).arrays[0]
    #expect(array.tensor.shape == [1_000_000, 2])
    #expect(array.tensor.elements.last == -9.87654321012345e-05)
    #expect(ContinuousClock.now - start < .seconds(10))
  }
}
