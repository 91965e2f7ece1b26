import CoreMLModel
import TensorCore
import Testing

@testable import ModelTransforms

/// Edits of parts of a network.
struct NetworkEditTests {
  private let shapes = ["input": [1, 1, 2, 1, 1], "hidden": [1, 1, 2, 1, 1]]

  @Test func outputsComeAndGo() throws {
    let more = try Sample.dense.addingOutput(
      "hidden", shape: shapes["hidden"], dataType: .double)
    #expect(more.description?.output.map(\.name) == ["output", "hidden"])
    #expect(more.description?.output[1].type?.kind == Sample.array([2]))
    #expect(try more.removingOutput("hidden") == Sample.dense)
    #expect(throws: ModelError.self) { try Sample.dense.removingOutput("output") }
    for name in ["output", "input", "nothing"] {
      #expect(throws: ModelError.self) {
        try Sample.dense.addingOutput(name, shape: nil, dataType: .double)
      }
    }
  }

  @Test func partsAreCutOut() throws {
    let first = try Sample.dense.cut(
      from: [], to: ["hidden"], shapes: shapes, dataType: .float32)
    let layers = Sample.dense.neuralNetwork?.layers ?? []
    #expect(first.neuralNetwork?.layers == [layers[0]])
    #expect(first.description?.input == Sample.dense.description?.input)
    #expect(first.description?.output.map(\.name) == ["hidden"])
    let second = try Sample.dense.cut(
      from: ["hidden"], to: ["output"], shapes: shapes, dataType: .double)
    #expect(second.neuralNetwork?.layers == [layers[1]])
    #expect(second.description?.input.map(\.name) == ["hidden"])
    #expect(second.description?.output == Sample.dense.description?.output)
    #expect(first.validate().isEmpty && second.validate().isEmpty)
    #expect(throws: ModelError.self) {
      try Sample.dense.cut(from: ["x"], to: ["output"], shapes: shapes, dataType: .double)
    }
    #expect(throws: ModelError.self) {
      try Sample.dense.cut(from: ["hidden"], to: ["output"], shapes: [:], dataType: .double)
    }
  }

  @Test func partsOfAClassifier() throws {
    var classifier = try Sample.dense.settingClassLabels(.string(["a", "b"]))
    classifier.description?.metadata = Metadata()
    classifier.description?.metadata?.userDefined = ["assay.layout.input": "NC"]
    let head = try classifier.cut(
      from: ["hidden"], to: ["output"], shapes: shapes, dataType: .double)
    #expect(head.classLabels == .string(["a", "b"]))
    #expect(head.description?.output.map(\.name) == ["output", "classLabel"])
    #expect(head.description?.metadata?.userDefined == [:])
    #expect(head.validate().isEmpty)
    let trunk = try classifier.cut(from: [], to: ["hidden"], shapes: shapes, dataType: .double)
    #expect(trunk.classLabels == nil && trunk.description?.predictedFeatureName == "")
    #expect(trunk.validate().isEmpty)
  }

  private var custom: Model {
    var layer = Custom()
    layer.className = "Swish"
    layer.parameters = ["beta": .some(.double(1))]
    layer.blobs = [Weights([1, 2])]
    var model = Sample.dense
    model.neuralNetwork?.layers[1].parameters = layer
    return model
  }

  @Test func customLayersByNameAndByPlace() throws {
    #expect(custom.customLayerNames == ["relu"])
    for selection in [CustomLayerSelection.name("relu"), .index(0)] {
      let edited = try custom.editingCustomLayer(selection) { $0.className = "Mish" }
      #expect((edited.neuralNetwork?.layers[1].parameters as? Custom)?.className == "Mish")
      #expect(edited.neuralNetwork?.layers[0] == custom.neuralNetwork?.layers[0])
    }
    for selection in [CustomLayerSelection.name("dense"), .index(1), .index(-1)] {
      let error = #expect(throws: ModelError.self) {
        try custom.editingCustomLayer(selection) { _ in }
      }
      #expect(error?.hint?.contains("#0 'relu'") ?? false)
    }
    var pipeline = Sample.pipeline
    pipeline.type?.pipeline?.models[1] = custom
    let edited = try pipeline.editingCustomLayer(.index(0)) { $0.classDescription = "d" }
    let layer = edited.pipelineModels[1].neuralNetwork?.layers[1].parameters as? Custom
    #expect(layer?.classDescription == "d")
  }

  @Test func versionsSayWhatNeedsThem() throws {
    var model = custom
    model.specificationVersion = 5
    #expect(try model.settingVersion(2).specificationVersion == 2)
    #expect(try model.settingVersion(7).specificationVersion == 7)
    model.isUpdatable = true
    let error = #expect(throws: ModelError.self) { try model.settingVersion(1) }
    #expect(error?.hint?.contains("the model needs version 4: it is updatable") ?? false)
    #expect(
      error?.hint?.contains(
        "layer 'relu' (custom) needs version 2: it is of a type introduced in it") ?? false)
    #expect(throws: ModelError.self) { try model.settingVersion(99) }
  }

  /// The requirements match the smallest version, which is derived from them.
  @Test func demandsAgreeWithTheSmallestVersion() {
    var half = Sample.dense
    if var layer = half.neuralNetwork?.layers[0], var dense = layer.parameters as? InnerProduct {
      dense.matrix = Weights()
      dense.matrix?.float16Value = Bytes([0, 0, 0, 0] as [UInt16])
      layer.parameters = dense
      half.neuralNetwork?.layers[0] = layer
    }
    var exact = Sample.dense
    exact.neuralNetwork?.arrayInputShapeMapping = .exact
    for model in [Sample.dense, Sample.picture, custom, half, exact, Sample.pipeline] {
      let highest = model.demands(above: 1).map(\.version).max() ?? 1
      #expect(highest == model.minimumSpecificationVersion)
    }
  }

  @Test func trainingGoes() throws {
    var model = Sample.dense
    model.isUpdatable = true
    model.specificationVersion = 4
    let inputs = model.description?.input ?? []
    model.description?.trainingInput = inputs
    var layer = model.neuralNetwork?.layers[0] ?? NeuralNetworkLayer()
    layer.isUpdatable = true
    try layer.editWeights { _, weights in weights.isUpdatable = true }
    model.neuralNetwork?.layers[0] = layer
    model.neuralNetwork?.updateParams = OpaqueMessage(
      field: 10, name: "updateParams", payload: Bytes())
    var plain = Sample.dense
    plain.specificationVersion = 4
    #expect(try model.withoutTraining() == plain)
  }

  @Test func weightsAreReplaced() throws {
    let place = WeightPath(layer: "dense", parameter: "weights")
    #expect(
      try Sample.dense.replacingWeights([place: FloatValues([1, 2, 3, 4])]) == Sample.dense)
    let edited = try Sample.dense.replacingWeights([
      place: FloatValues([1, 3, 2, 5]).shaped([2, 2]).transposed([1, 0])
    ])
    let dense = edited.neuralNetwork?.layers[0].parameters as? InnerProduct
    #expect(try dense?.matrix?.floatValue.array() == [1, 2, 3, 5])
    #expect(try dense?.bias?.floatValue.array() == [5, 6])
    #expect(throws: ModelError.self) {
      try Sample.dense.replacingWeights([place: FloatValues([1, 2, 3])])
    }
    let wrong = WeightPath(layer: "relu", parameter: "weights")
    #expect(throws: ModelError.self) {
      try Sample.dense.replacingWeights([wrong: FloatValues([1])])
    }
  }

  @Test func halvesStayHalves() throws {
    let half = try Sample.dense.withHalfPrecisionWeights()
    let place = WeightPath(layer: "dense", parameter: "bias")
    let edited = try half.replacingWeights([place: FloatValues([1, 0.5])])
    let dense = edited.neuralNetwork?.layers[0].parameters as? InnerProduct
    #expect(dense?.bias?.float16Value.array(of: UInt16.self) == [0x3C00, 0x3800])
    #expect(try half.replacingWeights([place: FloatValues([5, 6])]) == half)
  }

  /// Every weight that a layer lists can be replaced by its name.
  @Test func everyWeightHasItsField() throws {
    let slopes = Activation(
      .parametricSoftplus(alpha: Weights([1, 2]), beta: Weights([3, 4])))
    var lstm = UniDirectionalLSTM()
    lstm.inputVectorSize = 1
    lstm.outputVectorSize = 1
    lstm.weightParams = LSTMWeights()
    lstm.weightParams?.inputGate.matrix = Weights([1])
    lstm.weightParams?.outputGate.peephole = Weights([2])
    var norm = Batchnorm()
    norm.channels = 1
    norm.gamma = Weights([1])
    norm.variance = Weights([4])
    var custom = Custom()
    custom.blobs = [Weights([1]), Weights([2, 3])]
    var constant = LoadConstant()
    constant.shape = [2, 1, 1]
    constant.data = Weights([8, 9])
    let layers = [
      NeuralNetworkLayer("a", slopes, input: ["input"], output: ["b"]),
      NeuralNetworkLayer("b", Activation(.prelu(alpha: Weights([1]))), input: ["b"], output: ["c"]),
      NeuralNetworkLayer("c", lstm, input: ["c"], output: ["d"]),
      NeuralNetworkLayer("d", norm, input: ["d"], output: ["e"]),
      NeuralNetworkLayer("e", custom, input: ["e"], output: ["f"]),
      NeuralNetworkLayer("f", constant, input: [], output: ["output"]),
    ]
    let model = Sample.model(layers, Sample.array([2]), Sample.array([2]))
    for layer in layers {
      for weight in layer.parameters?.weights ?? [] {
        let values = try weight.decoded().array().map { $0 + 100 }
        let place = WeightPath(layer: layer.name, parameter: weight.name)
        let edited = try model.replacingWeights([place: FloatValues(values)])
        let found = edited.neuralNetwork?.layers.first { $0.name == layer.name }?.parameters?
          .weights.first { $0.name == weight.name }
        #expect(try found?.decoded().array() == values, "\(place)")
      }
    }
  }
}
