import TensorCore
import TestSupport
import Testing

@testable import CaffeFormat

/// Protobuf's text format, according to its specification.
@Suite struct TextParserTests {
  private func convolution(_ fields: String) throws -> CaffeMessage {
    let network = try parsed("layer { convolution_param { \(fields) } }")
    return network.messages("layer")[0].message("convolution_param") ?? CaffeMessage(nil)
  }

  @Test(arguments: [
    ("num_output: 20", 20), ("num_output: 0x1F", 31), ("num_output: 017", 15),
    ("num_output: 0", 0), ("num_output: 4294967295", 4_294_967_295), ("num_output: 5.0", 5),
    ("num_output:7;", 7), ("num_output : 8 ,", 8), ("# 1\nnum_output: # 2\n 9 # 3\n", 9),
  ])
  func readsWholeNumbers(_ text: String, _ expected: Int) throws {
    #expect(try convolution(text).integer("num_output") == expected)
  }

  @Test(arguments: [
    ("1", 1.0), ("-1", -1), ("- 1", -1), ("1.5", 1.5), (".5", 0.5), ("5.", 5), ("1e3", 1000),
    ("1E+3", 1000), ("2.5e-1", 0.25), ("1f", 1), ("1.5F", 1.5), ("inf", Double.infinity),
    ("-inf", -Double.infinity), ("-Infinity", -Double.infinity), ("0x10", 16),
  ])
  func readsNumbers(_ text: String, _ expected: Double) throws {
    let message = try convolution("weight_filler { value: \(text) }").message("weight_filler")
    #expect(message?.number("value") == expected)
  }

  @Test func readsNaN() throws {
    let message = try convolution("weight_filler { value: -nan }").message("weight_filler")
    #expect(message?.number("value")?.isNaN == true)
  }

  @Test func keepsSinglePrecision() throws {
    let message = try convolution("weight_filler { value: 0.1 }").message("weight_filler")
    #expect(message?.number("value") == Double(Float(0.1)))
  }

  @Test(arguments: ["true", "True", "t", "1"])
  func readsTrue(_ text: String) throws {
    #expect(try convolution("bias_term: \(text)").bool("bias_term") == true)
  }

  @Test(arguments: ["false", "False", "f", "0"])
  func readsFalse(_ text: String) throws {
    #expect(try convolution("bias_term: \(text)").bool("bias_term") == false)
  }

  @Test(arguments: [
    (#"'a' "b"  'c'"#, "abc"), (#""\n\t\\\"\'\?""#, "\n\t\\\"'?"), (#""\101\x42\u00e9""#, "ABé"),
    (#""\U0001F600""#, "😀"), (#"'it"s'"#, #"it"s"#), ("'# no comment'", "# no comment"),
    (#""""#, ""),
  ])
  func readsStrings(_ text: String, _ expected: String) throws {
    #expect(try parsed("name: \(text)").string("name") == expected)
  }

  @Test func readsRepeatedFieldsInBothForms() throws {
    let message = try convolution("kernel_size: 3 kernel_size: [5, 7] kernel_size: [] stride: [2]")
    #expect(message.values("kernel_size").compactMap(\.integer) == [3, 5, 7])
    #expect(message.values("stride").compactMap(\.integer) == [2])
  }

  @Test func readsMessagesInBothBrackets() throws {
    let network = try parsed(
      "layer < name: 'a' > layer: { name: 'b' }, layer { name: 'c' }; layer: [{ name: 'd' }, <>]")
    #expect(network.messages("layer").map { $0.string("name") } == ["a", "b", "c", "d", ""])
  }

  @Test func readsEnumerationsByNameAndNumber() throws {
    let network = try parsed(
      "layer { pooling_param { pool: AVE } } layer { pooling_param { pool: 2 } } "
        + "layer { pooling_param { pool: MEDIAN } }")
    let names = network.messages("layer").map { $0.message("pooling_param")?.symbol("pool") }
    #expect(names == ["AVE", "STOCHASTIC", "MEDIAN"])
  }

  @Test func keepsFieldsThatTheSchemaDoesNotKnow() throws {
    var parser = try TextParser(
      Array("layer {\n  psroi_param { dim: -7 scale: 0.5 mode: FAST\n flag: true } }".utf8))
    let layer = try parser.parse(.network).messages("layer")[0]
    let unknown = layer.message("psroi_param")
    #expect(unknown?.integer("dim") == -7)
    #expect(unknown?.number("scale") == 0.5)
    #expect(unknown?.symbol("mode") == "FAST")
    #expect(unknown?.bool("flag") == true)
    #expect(parser.unknownFields.map(\.path) == ["layer.psroi_param"])
    #expect(parser.unknownFields.first?.position == TextPosition(line: 2, column: 3))
  }

  @Test func suggestsWhatAMisspelledFieldMayBe() throws {
    var parser = try TextParser(Array("layer { convolution_param { kernal_size: 3 } }".utf8))
    _ = try parser.parse(.network)
    #expect(parser.unknownFields.first?.similar == "kernel_size")
  }

  /// Line and column of the first character that does not fit.
  @Test(arguments: [
    ("layer {\n  name: 'a'\n", "line 3, column 1", "the bracket at line 1, column 7"),
    ("name: 'a'\n}", "line 2, column 1", "extra closing bracket"),
    ("layer { name: 'a' >", "line 1, column 19", "is closed by '}'"),
    ("name 'a'", "line 1, column 6", "':'"),
    ("name: 'a\n'", "line 1, column 7", "a string"),
    ("layer {\n\n  name: 5 }", "line 3, column 9", "a string"),
    ("name: 'a' name: 'b'", "line 1, column 11", "is repeated"),
    ("force_backward: maybe", "line 1, column 17", "true or false"),
    ("input_dim: 1.5", "line 1, column 12", "an integer"),
    ("input_dim: 3000000000", "line 1, column 12", "an integer"),
    ("input_dim: 099", "line 1, column 12", "an integer"),
    ("layer: 3", "line 1, column 8", "a message"),
    ("name: { }", "line 1, column 7", "a string"),
    ("name: [ 'a' ]", "line 1, column 7", "one value"),
    ("layer { bottom: ['a' 'b', }", "line 1, column 27", "a string"),
    ("foo: ", "line 1, column 6", "no value"), ("name: '\\q'", "line 1, column 8", "escape"),
    ("name: '\\u12'", "line 1, column 8", "escape"), ("a: \u{1}", "line 1, column 4", "byte 1"),
    ("input_dim: --1", "line 1, column 12", "an integer"), (": 1", "line 1, column 1", "name"),
  ])
  func tellsTheLineAndColumn(_ text: String, _ place: String, _ reason: String) throws {
    let error = try #require(modelError { try parsed(text) })
    let whole = "\(error.message) \(error.hint ?? "")"
    #expect(error.code == .malformed)
    #expect(error.message.hasPrefix(place + ":"), "\(whole)")
    #expect(whole.contains(reason), "\(whole)")
  }

  @Test func limitsDepthAndValues() throws {
    let deep = String(repeating: "a {", count: 100_000)
    #expect(modelError { try parsed(deep) }?.code == .limitExceeded)
    let many = String(repeating: "a:1 ", count: Limits.prototxtValues + 1)
    #expect(modelError { try parsed(many) }?.code == .limitExceeded)
  }
}
