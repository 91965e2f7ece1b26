import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

struct CustomLayerTests {
  private func options(_ rules: String) throws -> ConversionOptions {
    var options = ConversionOptions()
    options.customLayers = try CustomLayerRules(JSONValue(parsing: rules), folder: ".")
    return options
  }

  @Test func allUnsupportedLayersAreListed() throws {
    let error = modelError {
      try convert(
        #"""
        {"class_name": "Sequential", "config": [
          {"class_name": "Mystery", "config": {"name": "m", "batch_input_shape": [null, 4, 4, 3]}},
          {"class_name": "UpSampling2D", "config": {"name": "u", "interpolation": "cubic"}},
          {"class_name": "Sequential", "config": {"name": "inner", "layers": [
            {"class_name": "Lambda", "config": {"name": "l", "function": "crop", "function_type": "function"}},
            {"class_name": "Activation", "config": {"name": "a", "activation": "relu"}}]}}]}
        """#)
    }
    let text = error?.description ?? ""
    #expect(error?.code == .unsupported)
    #expect(text.contains("layer 'm' (Mystery)"))
    #expect(text.contains("layer 'u' (UpSampling2D): interpolation: 'cubic'"))
    #expect(text.contains("layer 'inner_l' (Lambda): its Python function 'crop'"))
    #expect(
      error?.hint?.contains(
        #"[{"class": "Mystery", "className": "YourClass"}, {"class": "Lambda", "function": "crop", "className": "YourClass"}]"#
      ) == true)
  }

  @Test func aRuleTakesParametersAndWeights() throws {
    let converted = try convert(
      single("Swish", input: "[null, 4, 4, 2]", #""beta": 0.25"#),
      [
        "layer": [.init("layer/scale:0", values: [1, 2]), .init("layer/shift:0", values: [3, 4])]
      ],
      options: options(
        #"""
        [{"class": "Swish", "className": "MySwish", "description": "d",
          "parameters": {"beta": "$config.beta", "n": 2}, "weights": ["shift"]}]
        """#))
    let custom = try #require(converted.only(Custom.self))
    #expect(custom.className == "MySwish" && custom.classDescription == "d")
    #expect(custom.parameters["beta"] == .double(0.25))
    #expect(custom.parameters["n"] == .int(2))
    #expect(try custom.blobs.map { try $0.floatValue.array() } == [[3, 4]])
    #expect(converted.outputShape() == [2, 4, 4])
    #expect(converted.result.model.specificationVersion == 2)
  }

  @Test func everythingMayBecomeACustomLayer() throws {
    var options = ConversionOptions()
    options.customLayers = .allow
    let converted = try convert(
      single("Mystery", input: "[null, 4]", #""alpha": 0.5, "n": 3, "trainable": true"#),
      ["layer": [.init("layer/k:0", values: [1, 2])]], options: options)
    let custom = try #require(converted.only(Custom.self))
    #expect(custom.className == "Mystery")
    #expect(custom.parameters == ["alpha": .double(0.5), "n": .int(3)])
    #expect(try custom.blobs.map { try $0.floatValue.array() } == [[1, 2]])
  }

  @Test func aRuleForAnActivationMakesALayerOfItsOwn() throws {
    let converted = try convert(
      single("Dense", input: "[null, 3]", #""units": 2, "activation": "swish", "use_bias": false"#),
      ["layer": [.init("kernel:0", [3, 2])]],
      options: options(#"[{"activation": "swish", "className": "Swish"}]"#))
    #expect(converted.names == ["layer", "layer__activation__"])
    #expect(converted.types == ["innerProduct", "custom"])
  }

  @Test func knownShapesWinOverGuessedOnes() throws {
    // The crop is assumed to keep 8 × 8; the convolution beside it shows that it is 6 × 6.
    let converted = try convert(
      #"""
      {"class_name": "Model", "config": {"name": "m", "layers": [
        {"name": "i", "class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 8, 8, 1]}, "inbound_nodes": []},
        {"name": "crop", "class_name": "Lambda", "config": {"name": "crop", "function": "crop", "function_type": "function"}, "inbound_nodes": [[["i", 0, 0, {}]]]},
        {"name": "conv", "class_name": "Conv2D", "config": {"name": "conv", "filters": 1, "kernel_size": 3, "use_bias": false}, "inbound_nodes": [[["i", 0, 0, {}]]]},
        {"name": "add", "class_name": "Add", "config": {"name": "add"}, "inbound_nodes": [[["crop", 0, 0, {}], ["conv", 0, 0, {}]]]}],
        "input_layers": [["i", 0, 0]], "output_layers": [["add", 0, 0]]}}
      """#, ["conv": [.init("kernel:0", [3, 3, 1, 1])]],
      options: options(#"[{"function": "crop", "className": "Crop"}]"#))
    #expect(converted.outputShape() == [1, 6, 6])
    #expect(converted.result.notes.isEmpty)
  }

  @Test func aKnownClassIsAskedForItsShapes() throws {
    var options = try options(#"[{"class": "Mystery", "className": "Deep"}]"#)
    options.customLayerShapes = { layer, shapes in
      #expect(layer.className == "Deep")
      #expect(shapes == [[1, 1, 3, 4, 6]])
      return [[1, 1, 12, 2, 3]]
    }
    let converted = try convert(single("Mystery", input: "[null, 4, 6, 3]", ""), options: options)
    #expect(converted.outputShape() == [12, 2, 3])
    #expect(converted.result.notes.isEmpty)
    // The layer turns an image into a vector.
    options.customLayerShapes = { _, _ in [[1, 1, 5, 1, 1]] }
    let pooled = try convert(single("Mystery", input: "[null, 4, 6, 3]", ""), options: options)
    #expect(pooled.outputShape() == [5, 1, 1])
  }

  @Test func aClassThatRefusesTheLayerIsSaid() throws {
    var options = try options(#"[{"class": "Mystery", "className": "Deep"}]"#)
    options.customLayerShapes = { _, _ in throw ModelError(.malformed, "odd sizes") }
    let converted = try convert(single("Mystery", input: "[null, 5, 6, 3]", ""), options: options)
    #expect(converted.result.notes.first == "the built-in class Deep rejects 'layer': odd sizes")
    #expect(converted.result.notes.count == 2)
  }

  @Test func theLastLayerOfAStyleNetworkIsNative() throws {
    let converted = try convert(single("DeprocessStylizedImage", input: "[null, 4, 6, 3]", ""))
    // (x + 1) · 127.5
    #expect(converted.only(Activation.self)?.function == .linear(alpha: 127.5, beta: 127.5))
  }
}
