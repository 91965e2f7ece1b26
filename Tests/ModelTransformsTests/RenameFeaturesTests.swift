import CoreMLModel
import TensorCore
import Testing

@testable import ModelTransforms

struct RenameFeaturesTests {
  private var model: Model {
    var classifier = NeuralNetworkClassifier()
    classifier.network.layers = [
      NeuralNetworkLayer("a", Activation(.relu), input: ["input1"], output: ["image"]),
      NeuralNetworkLayer("b", Add(), input: ["image", "input2"], output: ["output1"]),
    ]
    classifier.labelProbabilityLayerName = "output1"
    var step = NeuralNetworkPreprocessing()
    step.featureName = "input1"
    classifier.network.preprocessing = [step]
    var model = Model()
    model.type = .neuralNetworkClassifier(classifier)
    let array = FeatureType.Kind.multiArray(ArrayFeatureType(shape: [1], dataType: .double))
    model.description?.input = [
      FeatureDescription(name: "input1", kind: array),
      FeatureDescription(name: "input2", kind: array),
    ]
    model.description?.output = [
      FeatureDescription(name: "output1", kind: .dictionary(.string)),
      FeatureDescription(name: "label", kind: .string),
    ]
    model.description?.predictedFeatureName = "label"
    model.description?.predictedProbabilitiesName = "output1"
    return model
  }

  @Test func everyPlaceChanges() throws {
    let renamed = try model.renamingFeatures([
      "input1": "image", "output1": "probabilities", "label": "class",
    ])
    #expect(renamed.description?.input.map(\.name) == ["image", "input2"])
    #expect(renamed.description?.output.map(\.name) == ["probabilities", "class"])
    #expect(renamed.description?.predictedFeatureName == "class")
    #expect(renamed.description?.predictedProbabilitiesName == "probabilities")
    let network = renamed.neuralNetwork
    #expect(network?.preprocessing[0].featureName == "image")
    // The inner blob named "image" is renamed.
    #expect(network?.layers.map(\.input) == [["image"], ["image__1", "input2"]])
    #expect(network?.layers.map(\.output) == [["image__1"], ["probabilities"]])
    guard case .neuralNetworkClassifier(let classifier)? = renamed.type else {
      Issue.record("no classifier")
      return
    }
    #expect(classifier.labelProbabilityLayerName == "probabilities")
  }

  @Test func namesChangePlaces() throws {
    let renamed = try model.renamingFeatures(["input1": "input2", "input2": "input1"])
    #expect(renamed.description?.input.map(\.name) == ["input2", "input1"])
    #expect(renamed.neuralNetwork?.layers[1].input == ["image", "input1"])
  }

  @Test func refusesWhatIsNoRenaming() {
    for names in [
      ["nothing": "x"], ["input1": "input2"], ["input1": "x", "input2": "x"], ["input1": ""],
    ] {
      let error = #expect(throws: ModelError.self) { try model.renamingFeatures(names) }
      #expect(error?.code == .mismatch)
    }
    #expect(throws: Never.self) { try model.renamingFeatures(["input1": "input1"]) }
  }

  /// A message field with this number and `bytes`.
  private func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
    var key = number << 3 | 2
    var result: [UInt8] = []
    while key >= 0x80 {
      result.append(UInt8(key & 0x7F | 0x80))
      key >>= 7
    }
    return result + [UInt8(key), UInt8(bytes.count)] + bytes
  }

  /// A loop whose body contains a branch.
  private func loop(_ x: String, _ inner: String, _ y: String) -> Loop {
    func network(_ layers: NeuralNetworkLayer...) -> NeuralNetwork {
      NeuralNetwork().with(\.layers, layers)
    }
    let relu = Activation(.relu)
    let branch = Branch().with(
      \.ifBranch, network(NeuralNetworkLayer("b", relu, input: [inner], output: [y])))
    return Loop().with(\.conditionVar, x).with(
      \.bodyNetwork,
      network(
        NeuralNetworkLayer("a", relu, input: [x], output: [inner]),
        NeuralNetworkLayer("name", branch, input: [], output: [])))
  }

  @Test func namesInsideLoopsAndBranches() throws {
    func model(_ x: String, _ inner: String, _ y: String) -> Model {
      var model = Sample.model(
        [NeuralNetworkLayer("loop", loop(x, inner, y), input: [x], output: [y])],
        Sample.array([1]), Sample.array([1]))
      model.description?.input[0].name = x
      model.description?.output[0].name = y
      return model
    }
    let renamed = try model("input", "inner", "output").renamingFeatures(["output": "inner"])
    #expect(renamed == model("input", "inner__1", "inner"))
    let both = try model("a", "b", "c").renamingFeatures(["a": "a longer name than before"])
    #expect(both == model("a longer name than before", "b", "c"))
  }

  @Test func refusesLayersOfUnknownTypes() {
    let layer = OpaqueLayer(OpaqueMessage(field: 9999, name: nil, payload: Bytes()))
    let model = Sample.model(
      [NeuralNetworkLayer("later", layer, input: ["input"], output: ["output"])],
      Sample.array([1]), Sample.array([1]))
    let error = #expect(throws: ModelError.self) { try model.renamingFeatures(["input": "x"]) }
    #expect(error?.code == .unsupported && error?.layer == "later")
  }

  @Test func featuresBetweenTheModelsOfAPipeline() throws {
    let renamed = try Sample.pipeline.renamingFeatures([
      "between": "hidden", "input": "output", "output": "input",
    ])
    let models = renamed.pipelineModels
    #expect(renamed.description?.input[0].name == "output")
    #expect(models[0].description?.output[0].name == "hidden")
    #expect(models[1].description?.input[0].name == "hidden")
    // The blob "hidden" inside both models is renamed.
    #expect(models[0].neuralNetwork?.layers.map(\.output) == [["hidden__1"], ["hidden"]])
    #expect(models[1].neuralNetwork?.layers.map(\.input) == [["hidden"], ["hidden__1"]])
    #expect(models[1].neuralNetwork?.layers.map(\.output) == [["hidden__1"], ["input"]])
  }

  @Test func lossesAndRecordedLayoutsFollow() throws {
    var model = Sample.dense
    model.description?.metadata = Metadata()
    model.description?.metadata?.userDefined = [
      "assay.layout.input": "NC", "assay.shape.input": "?,2", "input": "kept",
      "assay.detect.output.type": "yolov2",
    ]
    // lossLayers (1), meanSquaredErrorLossLayer (11): input (1), target (2).
    func losses(_ input: String, _ target: String) -> Bytes {
      let loss = field(1, Array(input.utf8)) + field(2, Array(target.utf8))
      return Bytes(field(1, field(1, Array("loss".utf8)) + field(11, loss)))
    }
    model.neuralNetwork?.updateParams = OpaqueMessage(
      field: 10, name: "updateParams", payload: losses("output", "target"))
    let target = FeatureDescription(name: "target", kind: Sample.array([2]))
    model.description?.trainingInput = [target]
    let renamed = try model.renamingFeatures(["input": "x", "output": "y", "target": "t"])
    #expect(renamed.neuralNetwork?.updateParams?.payload == losses("y", "t"))
    #expect(renamed.description?.trainingInput[0].name == "t")
    #expect(
      renamed.description?.metadata?.userDefined == [
        "assay.layout.x": "NC", "assay.shape.x": "?,2", "input": "kept",
        "assay.detect.y.type": "yolov2",
      ])
  }

  @Test func otherModelsThatNameFeatures() throws {
    func model(_ field: UInt32, _ payload: [UInt8]) -> Model {
      var model = Sample.dense
      model.type = .opaque(OpaqueMessage(field: field, name: "x", payload: Bytes(payload)))
      return model
    }
    // wordTagger: tokensOutputFeatureName (20).
    let tagger = try model(2001, field(20, Array("input".utf8)))
      .renamingFeatures(["input": "x"])
    guard case .opaque(let message)? = tagger.type else {
      Issue.record("another type")
      return
    }
    #expect(message.payload == Bytes(field(20, Array("x".utf8))))
    var vectorizer = FeatureVectorizer()
    vectorizer.columns = [FeatureVectorizer.Column()]
    vectorizer.columns[0].name = "input"
    var vectorized = Sample.dense
    vectorized.type = .features(FeatureModel(vectorizer))
    let renamed = try vectorized.renamingFeatures(["input": "x"])
    vectorizer.columns[0].name = "x"
    #expect(renamed.type == .features(FeatureModel(vectorizer)))
    #expect(throws: ModelError.self) { try model(502, []).renamingFeatures(["input": "x"]) }
    // A gazetteer contains no names, and a damaged message is an error.
    #expect(throws: Never.self) { try model(2004, [0xFF]).renamingFeatures(["input": "x"]) }
    #expect(throws: ModelError.self) { try model(2001, [0xFF]).renamingFeatures(["input": "x"]) }
  }

  /// The block of a loop reads a value that is computed before it.
  @Test func blocksReadRenamedValues() {
    func gather(_ input: String, _ output: String) -> MILOperation {
      var operation = MILOperation()
      operation.type = "gather"
      operation.inputs = [MILArgumentEntry("x", [.name(input)])]
      operation.outputs = [MILNamedType(output, MILValueType(.float32, [1]))]
      return operation
    }
    var block = MILBlock()
    block.operations = [gather("rows", "row")]
    block.outputs = ["row"]
    var loop = gather("steps", "last")
    loop.blocks = [block]
    loop.renameValues(["rows": "gru_blob", "row": "step"])
    #expect(loop.blocks.first?.operations == [gather("gru_blob", "step")])
    #expect(loop.blocks.first?.outputs == ["step"])
    #expect(loop.inputs == gather("steps", "last").inputs)
  }
}
