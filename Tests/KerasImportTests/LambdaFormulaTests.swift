import ByteFormats
import CoreMLModel
import Formulas
import Foundation
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Python functions as `marshal` of ten versions stores them, made by `Fixtures/formulas/make.py`.
struct LambdaFixture: Decodable, Sendable {
  struct Numbers: Decodable, Sendable {
    let shape: [Int]
    let values: [Double]
    var array: FormulaArray { FormulaArray(shape, values) }
  }

  /// A number, a text or None.
  struct Setting: Decodable, Sendable {
    let json: JSONValue

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        json = .null
      } else if let text = try? container.decode(String.self) {
        json = .string(text)
      } else if let int = try? container.decode(Int.self) {
        json = .int(int)
      } else {
        json = .double(try container.decode(Double.self))
      }
    }
  }

  struct Case: Decodable, Sendable {
    let name: String
    let python: String
    let code: String
    let defaults: [Setting]?
    let closure: [Setting]?
    let arguments: [String: Setting]
    let inputs: Int
    /// Nil for what is more than a formula.
    let value: String?

    var bytes: [UInt8] { Base64.decode(code.utf8) ?? [] }

    var surroundings: PythonFormula.Surroundings {
      var result = PythonFormula.Surroundings()
      result.inputCount = inputs
      result.defaults = (defaults ?? []).map(\.json)
      result.closure = (closure ?? []).map(\.json)
      for (name, value) in arguments { result.arguments[name] = value.json }
      return result
    }
  }

  let cases: [Case]
  let inputs: [Numbers]
  let values: [String: Numbers]

  init() throws {
    self = try JSONDecoder().decode(
      Self.self, from: Data(Fixtures("formulas").bytes("lambdas.json")))
  }
}

@Suite struct LambdaFormulaTests {
  @Test func everyVersionsFunctionsGiveWhatPythonGives() throws {
    let fixture = try LambdaFixture()
    #expect(Set(fixture.cases.map(\.python)).count == 10)
    for entry in fixture.cases {
      let title = "\(entry.name), Python \(entry.python)"
      let code = try #require(PythonMarshal.function(entry.bytes), "\(title)")
      guard let key = entry.value else {
        let error = #expect(throws: ModelError.self, "\(title)") {
          try PythonFormula(code, entry.surroundings)
        }
        #expect(error?.code == .unsupported, "\(title)")
        continue
      }
      do {
        let formula = try PythonFormula(code, entry.surroundings)
        var names: [String: FormulaArray] = [:]
        for (name, input) in zip(formula.inputs, fixture.inputs) { names[name] = input.array }
        let value = try formula.expression.value(names)
        let expected = try #require(fixture.values[key]).array
        #expect(value.shape == expected.shape, "\(title): \(formula.expression)")
        let differences: [Double] = zip(value.elements, expected.elements).map { abs($0 - $1) }
        #expect((differences.max() ?? 0) <= 1e-12 * 500, "\(title): \(formula.expression)")
      } catch {
        Issue.record("\(title): \(error)")
      }
    }
  }

  @Test func formulasReadAsTheyAreWritten() throws {
    let fixture = try LambdaFixture()
    func text(_ name: String, _ python: String) throws -> String {
      let entry = try #require(fixture.cases.first { $0.name == name && $0.python == python })
      let code = try #require(PythonMarshal.function(entry.bytes))
      return try PythonFormula(code, entry.surroundings).expression.description
    }
    for python in ["2.7", "3.5", "3.6", "3.8", "3.11", "3.12", "3.13"] {
      #expect(try text("swish", python) == "x * sigmoid(x)")
      #expect(try text("rescale", python) == "(x + 1) * 127.5")
      #expect(try text("crop", python) == "x[:, 2:-2, 2:-2]")
      #expect(try text("mean", python) == "mean(x, axis=1, keepdims=True)")
      #expect(try text("default", python) == "2 * x + 3")
    }
  }

  @Test func reasonsAreGiven() throws {
    let fixture = try LambdaFixture()
    func reason(_ name: String) throws -> String? {
      let entry = try #require(fixture.cases.first { $0.name == name && $0.python == "3.11" })
      let code = try #require(PythonMarshal.function(entry.bytes))
      return modelError { try PythonFormula(code, entry.surroundings) }?.message
    }
    #expect(try reason("other_function") == "it calls tf.space_to_depth")
    #expect(try reason("global") == "it uses 'WIDTH', defined outside it")
    #expect(try reason("attribute") == "it uses '.sum' of a tensor")
    #expect(try reason("by_values") == "it branches by the values of a tensor")
    #expect(try reason("endless") == "it takes too many steps")
    #expect(try reason("constant") == "it does not return a tensor")
  }

  /// Each code object is cut anywhere, and changed anywhere: a formula or an error, never a trap.
  @Test func damagedCodeDoesNoHarm() throws {
    let fixture = try LambdaFixture()
    var random = SplitMix64(seed: 3)
    var (read, refused) = (0, 0)
    for entry in fixture.cases where entry.name != "constants" {
      let bytes = entry.bytes
      for length in 0..<bytes.count {
        #expect(PythonMarshal.function(Array(bytes[..<length])) == nil)
      }
      for _ in 0..<40 {
        guard let code = PythonMarshal.function(bytes.withBytesReplaced(&random)) else { continue }
        if (try? PythonFormula(code, entry.surroundings)) != nil { read += 1 } else { refused += 1 }
      }
    }
    #expect(read > 100 && refused > 1000)
  }

  /// Code that doubles its value over and over, and that builds lists of lists.
  @Test func growthIsBounded() throws {
    var code = PythonCode(
      layout: .python3, name: "f", argumentCount: 1, keywordOnlyCount: 0, stackSize: 3, flags: 67,
      code: [], constants: [.none], names: [], variables: ["x"], cells: [], free: [])
    // x = x * x, a thousand times.
    for _ in 0..<1000 { code.code += [124, 0, 124, 0, 20, 0, 125, 0] }
    code.code += [124, 0, 83, 0]
    #expect(
      modelError { try PythonFormula(code, PythonFormula.Surroundings()) }?.code == .limitExceeded)
    code.code = [124, 0]
    for _ in 0..<5000 { code.code += [102, 1] }
    code.code += [83, 0]
    #expect(
      modelError { try PythonFormula(code, PythonFormula.Surroundings()) }?.message
        == "it builds nested lists")
    // More is taken from the stack than there is; the last instruction is missing.
    for bytes in [[1, 0, 83, 0], [124, 9, 83, 0], [100, 7, 83, 0], [124, 0], [131, 5, 83, 0]] {
      code.code = bytes.map { UInt8($0) }
      #expect(modelError { try PythonFormula(code, PythonFormula.Surroundings()) } != nil)
    }
  }

  private func lambda(_ name: String, _ python: String = "3.11") throws -> String {
    let entry = try #require(
      LambdaFixture().cases.first { $0.name == name && $0.python == python })
    return
      #""function": [\#(JSONValue.string(entry.code).text), null, null], "function_type": "lambda", "arguments": {}"#
  }

  private var refusing: ConversionOptions {
    var options = ConversionOptions()
    options.readsFormulas = false
    return options
  }

  @Test func aLambdaBecomesLayersUnlessTheUserForbidsIt() throws {
    let swish = single("Lambda", input: "[null, 8, 8, 3]", try lambda("swish"))
    let error = modelError { try convert(swish, options: refusing) }
    #expect(
      error?.message
        == "its Python function '<lambda>' computes x * sigmoid(x); Python code is never run")
    #expect(
      error?.hint?.hasPrefix(
        "convert the formula with --lambda auto; or make it a custom layer with a rule") == true)
    let converted = try convert(swish)
    #expect(converted.types == ["activation", "multiply"])
    #expect(converted.names == ["layer__sigmoid__", "layer"])
    #expect(converted.outputShape() == [3, 8, 8])
    #expect(converted.result.model.specificationVersion == 1)
    #expect(converted.result.plan.contains { $0.layerClass == "Lambda, x * sigmoid(x)" })

    let crop = try convert(
      single("Lambda", input: "[null, 9, 8, 3]", try lambda("crop")))
    #expect(crop.types == ["crop"] && crop.outputShape() == [3, 5, 4])
    let open = try convert(
      single("Lambda", input: "[null, 9, 8, 3]", try lambda("rescale")))
    #expect(open.types == ["activation"])

    let more = modelError {
      try convert(
        single("Lambda", input: "[null, 8, 8, 3]", lambda("by_values")))
    }
    #expect(
      more?.message
        == "its Python function '<lambda>' cannot be converted: it branches by the values of a tensor; "
        + "the function: def f(x): return x if x > 0 else -x")
    let blocks = try convert(
      single("Lambda", input: "[null, 8, 8, 3]", lambda("other_function")))
    #expect(blocks.types == ["reorganizeData"] && blocks.names == ["layer"])
    #expect(blocks.outputShape() == [12, 4, 4])
    #expect(
      blocks.result.plan.contains {
        $0.layerClass == "Lambda, t1 = tf.space_to_depth(x, block_size=2)"
      })
  }

  @Test func aRuleWinsOverAFormula() throws {
    var options = ConversionOptions()
    options.customLayers = try CustomLayerRules(
      JSONValue(parsing: #"[{"class": "Lambda", "className": "Mine"}]"#), folder: ".")
    let converted = try convert(
      single("Lambda", input: "[null, 8, 8, 3]", lambda("swish")), options: options)
    #expect(converted.types == ["custom"])
  }

  @Test func manyErrorsShareTheirHints() throws {
    let (swish, crop) = (try lambda("swish"), try lambda("crop"))
    let error = modelError {
      try convert(
        """
        {"class_name": "Sequential", "config": {"name": "s", "layers": [
          {"class_name": "Lambda", "config": {"name": "a", "batch_input_shape": [null, 8, 8, 3], \(swish)}},
          {"class_name": "Lambda", "config": {"name": "b", \(crop)}}]}}
        """, options: refusing)
    }
    #expect(error?.message.contains("computes x[:, 2:-2, 2:-2]; Python code is never run") == true)
    #expect(
      error?.hint
        == "convert formulas with --lambda auto; make them custom layers with rules: "
        + #"--custom-layers FILE.json with [{"class": "Lambda", "function": "<lambda>", "className": "YourClass"}]"#
    )
  }

  @Test func rulesGiveExpressions() throws {
    func options(_ rules: String) throws -> ConversionOptions {
      var options = ConversionOptions()
      options.customLayers = try CustomLayerRules(JSONValue(parsing: rules), folder: ".")
      return options
    }
    let weights: KeyValuePairs<String, [MemoryWeights.Weight]> = [
      "layer": [.init("layer/beta:0", values: [0.5, 2])]
    ]
    let json = single("Learned", input: "[null, 4, 4, 2]", #""scale": 3"#)
    let native = try convert(
      json, weights,
      options: options(
        #"""
        [{"class": "Learned", "expression": "scale * x * sigmoid(beta * x)",
          "parameters": {"scale": "$config.scale"}, "weights": ["beta"]}]
        """#))
    #expect(native.types == ["scale", "activation", "multiply", "activation"])
    #expect(native.result.model.specificationVersion == 1)
    let custom = try convert(
      json, weights,
      options: options(
        #"""
        [{"class": "Learned", "expression": "scale * x[:, 1:] * sigmoid(beta * x[:, :-1])",
          "as": "custom", "parameters": {"scale": "$config.scale"}, "weights": ["beta"]}]
        """#))
    let layer = try #require(custom.only(Custom.self))
    #expect(layer.className == "Formula")
    #expect(
      layer.parameters == [
        "expression": .string("scale * x[:, :, :, 1:, :] * sigmoid(beta * x[:, :, :, :-1, :])"),
        "inputs": .string("x"), "weights": .string("beta[1,1,2,1,1]"), "scale": .double(3),
      ])
    #expect(layer.blobs.map { $0.floatValue.array() } == [[0.5, 2]])
    #expect(custom.outputShape() == [2, 3, 4])
    func failure(_ rule: String) -> String? {
      modelError { try convert(json, weights, options: options(rule)) }?.description
    }
    #expect(
      failure(#"[{"class": "Learned", "expression": "x * b"}]"#)?.contains("unknown name 'b'")
        == true)
    #expect(
      failure(#"[{"class": "Learned", "expression": "x[:, 5]"}]"#)?
        .contains(
          "layer 'layer' (Learned): the formula x[:, 5]: index 5 is out of range for length 4")
        == true)
    #expect(
      failure(#"[{"class": "Learned", "expression": "x * ("}]"#)?
        .contains("rule 1: expression") == true
        || failure(#"[{"class": "Learned", "expression": "x * ("}]"#)?.contains("column 6") == true)
    #expect(
      failure(#"[{"class": "Learned", "expression": "x", "as": "x"}]"#)?.contains("'as' is \"x\"")
        == true)
    #expect(
      failure(#"[{"class": "Learned", "expression": "x[::2]"}]"#)?.contains(
        "slicing the batch is not supported")
        == true)
  }
}
