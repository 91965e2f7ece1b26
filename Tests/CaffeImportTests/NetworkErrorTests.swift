import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

/// One error for each kind of mistake, with line and column if available.
@Suite struct NetworkErrorTests {
  private static let data = input("data", 1, 3, 4, 4)

  private func error(_ text: String) throws -> ModelError {
    try #require(modelError { try convert(Self.data + text) })
  }

  @Test func aMisspelledFieldIsKeptAndReported() throws {
    let text =
      Self.data
      + "layer { name: 'r' type: 'ReLU' bottom: 'data' top: 'r'\n  loss_wight: 1 }"
    let note = try #require(convert(text).notes.first)
    #expect(note.contains("line 3, column 3"))
    #expect(note.contains("layer.loss_wight"))
    #expect(note.contains("did you mean 'loss_weight'"))
  }

  @Test func aMisspeltSettingIsAnError() throws {
    let error = try error(layer("r", "ReLU", "data", "r", "relu_param { negativ_slope: 1 }"))
    #expect(error.field == "relu_param.negativ_slope")
    #expect(error.hint == "did you mean 'negative_slope'?")
  }

  @Test func aFieldThatIsMissedMayBeTheMisspelledOne() throws {
    let error = try error(
      layer("c", "Convolution", "data", "c", "convolution_param { num_otput: 2 kernel_size: 3 }"))
    #expect(error.field == "convolution_param.num_output")
    #expect(error.hint?.contains("no field 'num_otput' (line 2, column") == true)
  }

  @Test func aMissingBraceTellsWhichOneIsOpen() throws {
    let error = try error("layer {\n  name: 'r'\n  relu_param { negative_slope: 1\n")
    #expect(error.message.contains("line 5, column 1"))
    #expect(error.hint?.contains("line 4, column 14") == true)
  }

  @Test func anUnknownLayerShowsTheRuleThatHelps() throws {
    let error = try error(layer("p", "Warp", "data", "p"))
    #expect(error.code == .unsupported)
    #expect(error.layer == "p")
    #expect(error.layerClass == "Warp")
    #expect(error.message.contains("line 2"))
    #expect(error.hint?.contains(#"{"class": "Warp", "className": "YourClass"}"#) == true)
  }

  @Test func allUnknownLayersStandInOneError() throws {
    let error = try error(
      layer("p", "Warp", "data", "p") + layer("r", "ReLU", "p", "r")
        + layer("q", "Python", "r", "q"))
    #expect(error.message.contains("'p' (Warp)"))
    #expect(error.message.contains("'q' (Python)"))
  }

  @Test func aWrongBottomIsNamedOnce() throws {
    let error = try error(layer("r", "ReLU", "dada", "r") + layer("s", "ReLU", "dada", "s"))
    #expect(error.layer == "r")
    #expect(error.field == "bottom")
    #expect(error.message.contains("no layer produces its bottom 'dada'"))
    #expect(error.message.contains("line 2"))
  }

  @Test func aCycleNamesBothLayers() throws {
    let error = try error(
      "layer { name: 'a' type: 'Eltwise' bottom: 'data' bottom: 'c' top: 'b' }\n"
        + layer("z", "ReLU", "b", "c"))
    #expect(error.layer == "a")
    #expect(error.message.contains("produced after it, by layer 'z' (line 3"))
  }

  @Test func twoMakersOfOneBlobAreRefused() throws {
    let error = try error(layer("a", "ReLU", "data", "x") + layer("b", "TanH", "data", "x"))
    #expect(error.layer == "b")
    #expect(error.message.contains("also the top of layer 'a'"))
  }

  @Test(arguments: [
    "dim: 100000 dim: 100000 dim: 100000", "dim: 0 dim: 3", "dim: -1 dim: 3", "",
    "dim: 1 dim: 1 dim: 1 dim: 1 dim: 1 dim: 1 dim: 1 dim: 1 dim: 1",
  ])
  func absurdSizesAreRefused(_ sizes: String) throws {
    let error = modelError {
      try convert(
        "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { \(sizes) } } }"
          + layer("r", "ReLU", "x", "r"))
    }
    #expect(error?.layer == "x")
  }

  @Test func aLayerWithoutATypeIsRefused() throws {
    #expect(try error("layer { name: 'x' bottom: 'data' top: 'x' }").field == "type")
  }

  @Test func bothKindsOfLayersTogetherAreRefused() throws {
    #expect(try error("layers { name: 'x' type: RELU }").message.contains("'layers'"))
  }

  @Test func anInputWithoutAShapeAsksForOne() throws {
    let error = modelError {
      try convert("layer { name: 'x' type: 'Data' top: 'x' }" + layer("r", "ReLU", "x", "r"))
    }
    #expect(error?.hint?.contains("inputShape x=") == true)
  }

  @Test func aSolverIsNoNetwork() throws {
    let error = modelError { try convert("net: 'train.prototxt' base_lr: 0.01 max_iter: 100") }
    #expect(error?.hint?.contains("solver") == true)
  }

  // MARK: Custom layers

  @Test func aRuleMakesACustomLayer() throws {
    var options = ConversionOptions()
    options.customLayers = try CustomLayerRules(
      JSONValue(
        parsing: #"""
          [{"class": "Fancy", "className": "MyFancy", "weights": ["0"],
            "parameters": {"b": "$config.fancy_param.beta", "k": 2}}]
          """#), folder: ".")
    let converted = try convert(
      Self.data + layer("f", "Fancy", "data", "f", "fancy_param { beta: 0.5 mode: FAST }"),
      weights: "layer { name: 'f' blobs { shape { dim: 2 } data: [1, 2] } }", options: options)
    let custom = try #require(converted.layer("f", as: Custom.self))
    #expect(custom.className == "MyFancy")
    #expect(custom.parameters["b"] == .double(0.5))
    #expect(custom.parameters["k"] == .int(2))
    #expect(try custom.blobs.map { try $0.floatValue.array() } == [[1, 2]])
    #expect(converted.outputs == ["f"])
  }

  @Test func everyUnknownLayerMayBecomeOne() throws {
    var options = ConversionOptions()
    options.customLayers = .allow
    let converted = try convert(
      Self.data
        + layer(
          "f", "Fancy", "data", "f", "fancy_param { beta: 0.5 mode: FAST size: 3 size: 4 on: true }"
        ),
      weights: "layer { name: 'f' blobs { shape { dim: 2 } data: [1, 2] } }", options: options)
    let custom = try #require(converted.layer("f", as: Custom.self))
    #expect(custom.className == "Fancy")
    #expect(custom.parameters["beta"] == .double(0.5))
    #expect(custom.parameters["mode"] == .string("FAST"))
    #expect(custom.parameters["on"] == .bool(true))
    #expect(custom.parameters["size"] == .string("[3, 4]"))
    #expect(custom.blobs.count == 1)
  }
}
