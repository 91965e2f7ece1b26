import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

/// Caffe's rules for building a network from its layers.
@Suite struct NetworkRuleTests {
  private static let data = input("data", 1, 3, 4, 4)

  // MARK: Phases, levels, stages

  private func names(_ text: String, _ change: (inout NetworkState) -> Void = { _ in }) throws
    -> [String]
  {
    var options = ConversionOptions()
    change(&options.networkState)
    return try convert(Self.data + text, options: options).names
  }

  @Test func thePhaseIsTestUnlessAskedOtherwise() throws {
    let text =
      layer("a", "ReLU", "data", "x", "include { phase: TRAIN }")
      + layer("b", "TanH", "data", "x", "include { phase: TEST }")
      + layer("c", "Sigmoid", "x", "y", "exclude { phase: TEST }")
    #expect(try names(text) == ["b"])
    #expect(try names(text) { $0.phase = .train } == ["a", "c"])
  }

  @Test func levelsAndStages() throws {
    let text =
      layer("low", "ReLU", "data", "a", "include { max_level: 1 }")
      + layer("high", "ReLU", "data", "b", "include { min_level: 2 }")
      + layer("deploy", "ReLU", "data", "c", "include { stage: 'deploy' not_stage: 'fast' }")
      + layer("both", "ReLU", "data", "d", "include { stage: 'deploy' } include { stage: 'fast' }")
      + layer("out", "ReLU", "data", "e", "exclude { stage: 'fast' }")
    #expect(try names(text) == ["low", "out"])
    #expect(try names(text) { $0.level = 2 } == ["high", "out"])
    #expect(try names(text) { $0.stages = ["deploy"] } == ["low", "deploy", "both", "out"])
    #expect(try names(text) { $0.stages = ["deploy", "fast"] } == ["low", "both"])
    #expect(try names("state { level: 3 stage: 'fast' } " + text) == ["high", "both"])
  }

  // MARK: In-place layers

  @Test func anInPlaceLayerMakesANewVersion() throws {
    // `early` reads `a` before the ReLU, `late` after it, and both versions have names.
    let text =
      Self.data + layer("first", "TanH", "data", "a") + layer("early", "AbsVal", "a", "b")
      + layer("relu", "ReLU", "a", "a") + layer("late", "AbsVal", "a", "c")
    let converted = try convert(text)
    let layers = Dictionary(uniqueKeysWithValues: converted.layers.map { ($0.name, $0) })
    #expect(layers["first"]?.output == ["a_2relu"])
    #expect(layers["early"]?.input == ["a_2relu"])
    #expect(layers["relu"]?.input == ["a_2relu"])
    #expect(layers["relu"]?.output == ["a"])
    #expect(layers["late"]?.input == ["a"])
    #expect(converted.outputs == ["b", "c"])
  }

  @Test func aChainOfInPlaceLayersEndsWithTheBlobsName() throws {
    let text =
      Self.data + layer("t", "TanH", "data", "a") + layer("r", "ReLU", "a", "a")
      + layer("s", "Sigmoid", "a", "a")
    let converted = try convert(text)
    #expect(converted.layers.map(\.output) == [["a_1r"], ["a_2s"], ["a"]])
    #expect(converted.outputs == ["a"])
  }

  @Test func anInPlaceLayerOnTheInputHasAnOutputOfAnotherName() throws {
    let converted = try convert(Self.data + layer("r", "ReLU", "data", "data"))
    #expect(converted.inputs == ["data"])
    #expect(converted.outputs == converted.layers.last?.output)
    #expect(converted.outputs != ["data"])
  }

  // MARK: Layers that vanish

  @Test func splitDropoutSilenceLossesAndAccuracyVanish() throws {
    let text =
      Self.data + input("label", 1)
      + "layer { name: 'split' type: 'Split' bottom: 'data' top: 'x' top: 'y' }"
      + layer("r", "ReLU", "x", "r") + layer("d", "Dropout", "r", "d")
      + layer("t", "TanH", "d", "t")
      + layer("s", "Sigmoid", "y", "s") + "layer { name: 'q' type: 'Silence' bottom: 's' }"
      + "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 't' bottom: 'label' top: 'l' }"
      + "layer { name: 'a' type: 'Accuracy' bottom: 't' bottom: 'label' top: 'a' }"
    let converted = try convert(text)
    #expect(converted.names == ["r", "t"])
    #expect(converted.layers[0].input == ["data"])
    #expect(converted.layers[1].input == ["r"])
    #expect(converted.inputs == ["data"])
    #expect(converted.outputs == ["t"])
  }

  @Test func aLossWithProbabilitiesIsASoftmax() throws {
    let text =
      input("data", 1, 3) + input("label", 1)
      + "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'data' bottom: 'label' top: 'l' top: 'p' }"
    let converted = try convert(text)
    #expect(converted.types == ["softmax"])
    #expect(converted.outputs == ["p"])
  }

  @Test func anOutputThatIsAnInputIsCopied() throws {
    let converted = try convert(Self.data + layer("d", "Dropout", "data", "d"))
    #expect(converted.outputs == ["d"])
    #expect(converted.types == ["activation"])
  }

  @Test func twoOutputsOfOneBlobAreTwo() throws {
    let text =
      Self.data + layer("r", "ReLU", "data", "r")
      + "layer { name: 's' type: 'Split' bottom: 'r' top: 'x' top: 'y' }"
    let converted = try convert(text)
    #expect(converted.outputs.count == 2)
    #expect(Set(converted.outputs).count == 2)
  }

  // MARK: Inputs

  /// BVLC's upgrade_proto.cpp, UpgradeNetInput: names of inputs without sizes are dropped.
  @Test func anInputWithoutSizesMayBeThatOfALayer() throws {
    let converted = try convert("input: 'x'\n" + input("x", 1, 3) + layer("r", "ReLU", "x", "y"))
    #expect(converted.inputs == ["x"])
    #expect(converted.inputShape("x") == [3])
  }

  /// Two videos of three images, as in `Fixtures/caffe/layers/videos.prototxt`.
  @Test func aBatchThatALayerSplitsIsKept() throws {
    let network =
      input("x", 6, 4)
      + layer("s", "Reshape", "x", "y", "reshape_param { shape { dim: 3 dim: 2 dim: 4 } }")
    let converted = try convert(network)
    #expect(converted.inputShape("x") == [6, 4])
    #expect(converted.outputShape("y") == [3, 2, 4])
    #expect(converted.notes.contains { $0.contains("works across the batch") })
    // A first size equal to the batch size is the interface's single item.
    let whole = try convert(
      input("x", 6, 4)
        + layer("s", "Reshape", "x", "y", "reshape_param { shape { dim: 6 dim: 2 dim: 2 } }"))
    #expect(whole.inputShape("x") == [4])
  }

  @Test func aSplitBatchIsNoImage() {
    var options = ConversionOptions()
    options.imageInputs = ["x"]
    let error = #expect(throws: ModelError.self) {
      try convert(
        input("x", 6, 3, 4, 4)
          + layer("s", "Reshape", "x", "y", "reshape_param { shape { dim: 3 dim: 2 dim: 48 } }"),
        options: options)
    }
    #expect(error?.layer == "s")
  }

  @Test func severalTopsOfOneInputHaveTheirShapes() throws {
    let text =
      "layer { name: 'in' type: 'Input' top: 'b' top: 'a' input_param { "
      + "shape { dim: 1 dim: 3 dim: 4 dim: 5 } shape { dim: 1 dim: 7 } } }"
      + layer("x", "ReLU", "b", "x") + layer("y", "ReLU", "a", "y")
    let converted = try convert(text)
    #expect(converted.inputs == ["a", "b"])
    #expect(converted.inputShape("a") == [7])
    #expect(converted.inputShape("b") == [3, 4, 5])
    #expect(converted.outputShape("x") == [3, 4, 5])
    #expect(converted.outputShape("y") == [7])
  }

  @Test(arguments: [
    ([6], [6], "C"), ([2, 6], [6], "NC"), ([3, 4, 5], [3, 4, 5], "CHW"),
    ([10, 3, 4, 5], [3, 4, 5], "NCHW"), ([1, 1, 3, 4, 5], [3, 4, 5], "TNCHW"),
  ])
  func inputsOfEveryRank(_ sizes: [Int], _ shape: [Int], _ layout: String) throws {
    let text = sizes.map { "dim: \($0)" }.joined(separator: " ")
    let converted = try convert(
      "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { \(text) } } }"
        + layer("r", "ReLU", "x", "r"))
    #expect(converted.inputShape("x") == shape)
    #expect(converted.outputShape("r") == shape)
    #expect(converted.metadata("assay.layout.x") == layout)
  }

  @Test func oldInputsBecomeALayer() throws {
    let relu = layer("r", "ReLU", "x", "r") + layer("s", "ReLU", "y", "s")
    let sizes = "input_dim: [1, 3, 4, 5, 1, 2, 1, 1]"
    let shapes = "input_shape { dim: [1, 3, 4, 5] } input_shape { dim: [1, 2] }"
    let old = try convert("input: 'x' input: 'y' \(sizes)" + relu)
    #expect(old.inputShape("x") == [3, 4, 5])
    #expect(old.inputShape("y") == [2, 1, 1])
    let newer = try convert("input: ['x', 'y'] \(shapes)" + relu)
    #expect(newer.inputShape("x") == [3, 4, 5])
    #expect(newer.inputShape("y") == [2])
  }

  @Test func inputsChangeTheirSizesOnRequest() throws {
    var options = ConversionOptions()
    options.inputShapes["data"] = [nil, nil, 8, 6]
    let converted = try convert(Self.data + layer("r", "ReLU", "data", "r"), options: options)
    #expect(converted.inputShape("data") == [3, 8, 6])
  }

  @Test func dataLayersBecomeInputs() throws {
    let text =
      "layer { name: 'd' type: 'Data' top: 'data' top: 'label' transform_param { crop_size: 9 } }"
      + layer("r", "ReLU", "data", "r")
      + "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'r' bottom: 'label' top: 'l' }"
    let converted = try convert(text)
    #expect(converted.inputs == ["data"])
    #expect(converted.inputShape("data") == [3, 9, 9])
    let memory =
      "layer { name: 'm' type: 'MemoryData' top: 'data' top: 'label' "
      + "memory_data_param { batch_size: 2 channels: 4 height: 5 width: 6 } }"
      + layer("r", "ReLU", "data", "r")
    #expect(try convert(memory).inputShape("data") == [4, 5, 6])
    let dummy =
      "layer { name: 'm' type: 'DummyData' top: 'data' dummy_data_param { shape { dim: [1, 5] } } }"
      + layer("r", "ReLU", "data", "r")
    #expect(try convert(dummy).inputShape("data") == [5])
  }

  // MARK: Preprocessing

  @Test func transformationsAreTheDefaultOfPictures() throws {
    let text =
      "layer { name: 'd' type: 'Data' top: 'data' "
      + "transform_param { crop_size: 9 scale: 0.5 mean_value: [104, 117, 123] } }"
      + layer("r", "ReLU", "data", "r")
    var options = ConversionOptions()
    options.imageInputs = ["data"]
    let converted = try convert(text, options: options)
    guard
      case .scaler(let scaler)? = converted.result.model.neuralNetwork?.preprocessing.first?
        .preprocessor
    else {
      Issue.record("no scaler")
      return
    }
    // scale · (x − mean)
    #expect(scaler.channelScale == 0.5)
    #expect((scaler.blueBias, scaler.greenBias, scaler.redBias) == (-52, -58.5, -61.5))
    guard case .image(let image)? = converted.result.model.description?.input[0].type?.kind else {
      Issue.record("no image")
      return
    }
    #expect(image.colorSpace == .bgr)
    #expect(converted.notes.contains { $0.contains("transform_param of layer 'd'") })
    options.preprocessing.preset = .caffe
    let preset = try convert(text, options: options)
    guard
      case .scaler(let own)? = preset.result.model.neuralNetwork?.preprocessing.first?.preprocessor
    else { return }
    #expect((own.blueBias, own.greenBias, own.redBias) == (-103.939, -116.779, -123.68))
    #expect(own.channelScale == 1)
  }

  // MARK: Weights

  private static let product = layer(
    "fc", "InnerProduct", "data", "fc", "inner_product_param { num_output: 2 }")

  @Test func weightsThatDoNotFitAreNamedTogether() throws {
    let text =
      input("data", 1, 3) + Self.product
      + layer("gc", "InnerProduct", "fc", "gc", "inner_product_param { num_output: 1 }")
      + layer("hc", "InnerProduct", "data", "hc", "inner_product_param { num_output: 1 }")
    let weights = """
      layer { name: 'fc' blobs { shape { dim: [2, 4] } data: [1, 2, 3, 4, 5, 6, 7, 8] } }
      layer { name: 'hc' blobs { shape { dim: [1, 3] } data: [1, 2, 3] } }
      layer { name: 'other' blobs { shape { dim: 1 } data: 1 } }
      """
    let error = try #require(modelError { try convert(text, weights: weights) })
    #expect(error.message.contains("'fc'"))
    #expect(error.message.contains("[2, 4]"))
    #expect(error.message.contains("'hc'"))
    #expect(error.message.contains("'other'"))
  }

  @Test func sharedWeightsAreThoseOfTheFirstLayer() throws {
    let shared = "param { name: 'w' } param { name: 'b' } inner_product_param { num_output: 2 }"
    let text =
      input("data", 1, 3) + layer("a", "InnerProduct", "data", "a", shared)
      + layer("b", "InnerProduct", "data", "b", shared)
    let weights = """
      layer { name: 'a' blobs { shape { dim: [2, 3] } data: [1, 2, 3, 4, 5, 6] }
        blobs { shape { dim: 2 } data: [7, 8] } }
      """
    let converted = try convert(text, weights: weights)
    let second = try #require(converted.layer("b", as: InnerProduct.self))
    #expect(try second.matrix?.floatValue.array() == [1, 2, 3, 4, 5, 6])
    #expect(try second.bias?.floatValue.array() == [7, 8])
  }

  @Test func aTextAloneIsEnoughWithoutWeights() throws {
    #expect(try convert(Self.data + layer("r", "ReLU", "data", "r")).types == ["activation"])
    let text = input("data", 1, 3) + Self.product
    let error = try #require(modelError { try convert(text) })
    #expect(error.hint?.contains(".caffemodel") == true)
    var options = ConversionOptions()
    options.missingWeights = .random(RandomWeights(seed: 1))
    #expect(try convert(text, options: options).types == ["flatten", "innerProduct"])
  }
}
