import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

@Suite struct FormulaRuleTests {
  private func options(_ rules: String) throws -> ConversionOptions {
    var options = ConversionOptions()
    options.customLayers = try CustomLayerRules(JSONValue(parsing: rules), folder: ".")
    return options
  }

  private static let data = input("data", 1, 2, 6, 7)
  private static let weights =
    "layer { name: 'f' blobs { shape { dim: 2 } data: [0.5, 2] } }"

  @Test func aFormulaBecomesCoreMLsLayers() throws {
    let converted = try convert(
      Self.data + layer("f", "Fancy", "data", "f", "fancy_param { beta: 0.5 }"),
      weights: Self.weights,
      options: options(
        #"""
        [{"class": "Fancy", "expression": "(x * sigmoid(b * x))[:, :, 1:, 2:-1] ** 2 + w",
          "parameters": {"b": "$config.fancy_param.beta"},
          "weights": [{"name": "w", "weight": "0", "shape": [2, 1, 1]}]}]
        """#))
    let types = converted.types
    #expect(types == ["activation", "activation", "multiply", "crop", "multiply", "bias"])
    let crop = try #require(converted.layers.compactMap { $0.parameters as? Crop }.first)
    #expect(crop.cropAmounts == BorderAmounts(top: 1, bottom: 0, left: 2, right: 1))
    let bias = try #require(converted.layer("f", as: Bias.self))
    #expect(try bias.shape == [2] && bias.bias?.floatValue.array() == [0.5, 2])
    #expect(converted.outputs == ["f"])
    #expect(converted.outputShape("f") == [2, 5, 4])
    #expect(converted.result.model.specificationVersion == 1)
  }

  @Test func severalBottomsHaveNames() throws {
    let text =
      Self.data + input("other", 1, 2, 6, 7)
      + "layer { name: 'f' type: 'Blend' bottom: 'data' bottom: 'other' top: 'f' }"
    let converted = try convert(
      text,
      options: options(
        #"[{"class": "Blend", "inputs": ["a", "b"], "expression": "maximum(a, b) - a"}]"#))
    let types = converted.types
    #expect(types == ["max", "activation", "add"])
    let custom = try convert(
      text, options: options(#"[{"class": "Blend", "as": "custom", "expression": "x0 / x1"}]"#))
    let layer = try #require(custom.layer("f", as: Custom.self))
    #expect(layer.parameters == ["expression": .string("x0 / x1"), "inputs": .string("x0,x1")])
    #expect(
      modelError {
        try convert(
          text, options: options(#"[{"class": "Blend", "inputs": ["a"], "expression": "a"}]"#))
      }?.message == "the rule names 1 input, but the layer has 2")
  }
}
