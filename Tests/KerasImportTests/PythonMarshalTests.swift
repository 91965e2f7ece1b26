import ByteFormats
import ImportSupport
import Testing

@testable import KerasImport

/// The code of `swish` from Python 3.11, as base64; its constants include a tuple, a long, a
/// complex number and bytes.
private let python311 = """
  4wIAAAAAAAAAAAAAAAIAAAADAAAA8xAAAACXAGQBfQJ8AHwBegUAAFMAKQLaA2RvY6kH6QEAAADnAAAAAAAABEDaAWFO
  8wEAAAB47AcAAAAAAAAAqTenMwRNk2UnA/kAAAAAAAAAAAAAAAAAAPA/qQApA9oBeNoEYmV0YdoBdHMDAAAAICAg+gg8
  c3RyaW5nPtoFc3dpc2hyDwAAAAMAAABzEAAAAIAA4AgtgEHYCwyIdIk4gE/zAAAAAA==
  """

/// The same code from Python 3.7, as Keras 2.2.4 stored it.
private let python37 = """
  4wEAAAAAAAAAAQAAAAMAAABDAAAAcw4AAAB0AKABfAChAXwAFABTACkBTikC2gFL2gdzaWdtb2lk
  KQHaAXipAHIEAAAA+gxnZW5fc2VlZDIucHnaBXN3aXNoEAAAAPMAAAAA

  """

/// `lambda x: x ** 2` from Python 2.7, byte by byte according to `marshal.c`.
private func python27() -> [UInt8] {
  func long(_ value: Int32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
  func string(_ tag: Character, _ text: String) -> [UInt8] {
    [tag.asciiValue ?? 0] + long(Int32(text.utf8.count)) + Array(text.utf8)
  }
  let code: [UInt8] = [0x7C, 0, 0, 0x64, 1, 0, 0x13, 0x53]
  var bytes: [UInt8] = [UInt8(ascii: "c")] + long(1) + long(1) + long(2) + long(67)
  bytes += [UInt8(ascii: "s")] + long(8) + code
  bytes += [UInt8(ascii: "(")] + long(2) + [UInt8(ascii: "N"), UInt8(ascii: "i")] + long(2)
  bytes += [UInt8(ascii: "(")] + long(0)
  bytes += [UInt8(ascii: "(")] + long(1) + string("t", "x")
  bytes += [UInt8(ascii: "(")] + long(0) + [UInt8(ascii: "(")] + long(0)
  bytes += string("s", "<ipython-input>") + string("t", "<lambda>") + long(1) + string("s", "")
  return bytes
}

struct PythonMarshalTests {
  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decode(text.utf8)) }

  @Test func readsNamesOfAllVersions() throws {
    #expect(PythonMarshal.function(try bytes(python311))?.name == "swish")
    #expect(PythonMarshal.function(try bytes(python37))?.name == "swish")
    #expect(PythonMarshal.function(python27())?.name == "<lambda>")
  }

  @Test func everyTruncationIsRefused() throws {
    for code in [try bytes(python311), try bytes(python37), python27()] {
      for length in 0..<code.count {
        #expect(PythonMarshal.function(Array(code[..<length])) == nil)
      }
    }
  }

  @Test func mutationsDoNoHarm() throws {
    var state: UInt64 = 1
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    for code in [try bytes(python311), try bytes(python37), python27()] {
      var read = 0
      for _ in 0..<20_000 {
        var mutated = code
        for _ in 0..<(1 + next() % 4) {
          mutated[Int(next() % UInt64(mutated.count))] = UInt8(next() & 0xFF)
        }
        if PythonMarshal.function(mutated) != nil { read += 1 }
      }
      // Some bytes do not matter, such as those of instructions.
      #expect(read > 0 && read < 20_000)
    }
  }

  @Test func nestingAndLengthsAreBounded() {
    let open = [UInt8](repeating: UInt8(ascii: ")"), count: 1) + [1]
    let nested = (0..<100_000).flatMap { _ in open }
    let head = [UInt8(ascii: "c")] + [UInt8](repeating: 0, count: 20)
    let empty = [UInt8(ascii: "s"), 0, 0, 0, 0]
    #expect(PythonMarshal.function(head + empty + nested) == nil)
    let huge: [UInt8] = [UInt8(ascii: "("), 0xFF, 0xFF, 0xFF, 0x7F]
    #expect(PythonMarshal.function(head + empty + huge) == nil)
    #expect(PythonMarshal.function(head + [UInt8(ascii: "l"), 0, 0, 0, 0x80]) == nil)
  }

  @Test func lambdaConfigurations() throws {
    func name(_ json: String) throws -> String? {
      LambdaFunction.name(in: try #require(JSONValue(parsing: json).object))
    }
    let code = JSONValue.string(python37).text
    #expect(
      try name(#"{"function": [\#(code), null, null], "function_type": "lambda"}"#) == "swish")
    #expect(
      try name(
        #"{"function": {"class_name": "__tuple__", "items": [\#(code), null, null]}}"#) == "swish")
    #expect(
      try name(
        #"{"function": {"class_name": "__lambda__", "config": {"code": \#(code), "defaults": null}}}"#
      )
        == "swish")
    #expect(try name(#"{"function": "swish", "function_type": "function"}"#) == "swish")
    #expect(try name(#"{"function": 7}"#) == nil)
    #expect(try name(#"{"function": "bm90IG1hcnNoYWw="}"#) == nil)
    #expect(try name("{}") == nil)
    // Keras 2.0 stores the bytes themselves, one per character.
    let raw = String(String.UnicodeScalarView(python27().map { UnicodeScalar($0) }))
    #expect(
      try name(#"{"function": [\#(JSONValue.string(raw).text), null, null]}"#) == "<lambda>")
  }
}
