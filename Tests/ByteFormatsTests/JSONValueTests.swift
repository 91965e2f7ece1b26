import ByteFormats
import TensorCore
import Testing

struct JSONValueTests {
  @Test func keepsOrderAndTheKindOfNumbers() throws {
    let value = try JSONValue(
      parsing: #"{"b": 1, "a": 1.0, "c": [1e2, -3, true, null, "é\u00e9\n"]}"#)
    #expect(value.object?.names == ["b", "a", "c"])
    #expect(value["b"] == .int(1))
    #expect(value["a"] == .double(1))
    #expect(value["c"] == .array([.double(100), .int(-3), .bool(true), .null, .string("éé\n")]))
  }

  @Test func readsPythonsNumbers() throws {
    let value = try JSONValue(parsing: "[NaN, Infinity, -Infinity, 123456789012345678901234567890]")
    #expect(value.array?[0].double?.isNaN == true)
    #expect(value.array?[1] == .double(.infinity))
    #expect(value.array?[2] == .double(-.infinity))
    #expect(value.array?[3] == .double(123_456_789_012_345_678_901_234_567_890))
  }

  @Test func writesStringsForWhatIsNoNumber() {
    let value = JSONValue.array([
      .double(.nan), .double(.infinity), .double(-.infinity), .double(1.5),
    ])
    #expect(value.text == #"["NaN", "Infinity", "-Infinity", 1.5]"#)
  }

  @Test func readsSurrogatePairs() throws {
    #expect(try JSONValue(parsing: #""\ud83d\ude00\ud800""#) == .string("😀\u{FFFD}"))
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\" 1}", "{1: 2}", "\"abc", "\"\\u12\"", "tru", "[1] 2", "-", "1.2.3",
    "{\"a\": }", "[1 2]", "\"\\ud800\\u0041\"",
  ])
  func refusesWhatIsNotJSON(_ text: String) {
    #expect { try JSONValue(parsing: text) } throws: { ($0 as? ModelError)?.code == .malformed }
  }

  @Test func saysWhere() {
    #expect { try JSONValue(parsing: "{\n  \"a\": x}") } throws: {
      ($0 as? ModelError)?.message == "not JSON: no value at line 2, column 8"
    }
  }

  @Test func nestingIsBounded() {
    let deep = String(repeating: "[", count: 100_000)
    #expect { try JSONValue(parsing: deep) } throws: {
      ($0 as? ModelError)?.code == .limitExceeded
    }
  }

  @Test func everyTruncationIsAnError() throws {
    let text = #"{"class_name": "Model", "config": {"layers": [1, 2.5, "a\"b"], "x": null}}"#
    _ = try JSONValue(parsing: text)
    let bytes = Array(text.utf8)
    for length in 0..<bytes.count {
      #expect(throws: ModelError.self) { try JSONValue(parsing: Array(bytes[..<length])) }
    }
  }
}
