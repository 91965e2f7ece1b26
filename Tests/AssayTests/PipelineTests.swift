import CoreMLModel
import ImportSupport
import TensorCore
import Testing

@testable import Assay

@Suite struct PipelineTests {
  private static func model(
    _ layer: any LayerParameters, from input: (String, FeatureType.Kind),
    to output: (String, FeatureType.Kind)
  ) -> Model {
    var only = NeuralNetworkLayer()
    only.name = "layer"
    only.parameters = layer
    only.input = [input.0]
    only.output = [output.0]
    var network = NeuralNetwork()
    network.layers = [only]
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetwork(network)
    model.description?.input = [FeatureDescription(name: input.0, kind: input.1)]
    model.description?.output = [FeatureDescription(name: output.0, kind: output.1)]
    return model
  }

  private static func pipeline(_ models: [Model]) -> Model {
    var pipeline = Pipeline()
    pipeline.models = models
    var model = Model()
    model.specificationVersion = 1
    model.type = .pipeline(pipeline)
    model.description?.input = models.first?.description?.input ?? []
    model.description?.output = models.last?.description?.output ?? []
    return model
  }

  private static func array(_ shape: [Int]) -> FeatureType.Kind {
    .multiArray(ArrayFeatureType(shape: shape, dataType: .double))
  }

  /// y = [[1, 2], [3, 4]] x + [5, 6]
  private static var dense: InnerProduct {
    var dense = InnerProduct()
    dense.inputChannels = 2
    dense.outputChannels = 2
    dense.hasBias = true
    dense.matrix = Weights([1, 2, 3, 4])
    dense.bias = Weights([5, 6])
    return dense
  }

  /// Nesting near the maximum depth of a file. Code that visits each nested model twice takes 2²²
  /// times as long, several times over.
  @Test(.timeLimit(.minutes(1))) func deepPipelinesRun() throws {
    var model = Self.model(Self.dense, from: ("x", Self.array([2])), to: ("y", Self.array([2])))
    for level in 0..<22 {
      model = Self.pipeline([model])
      if level % 2 == 0, let pipeline = model.type?.pipeline {
        model.type = .pipelineClassifier(pipeline)
      }
    }
    #expect(model.classLabels == nil && model.probabilitiesBlob == nil)
    #expect(model.firstTypeThatDoesNotRun == nil)
    let encoded = try Model(bytes: Bytes(try model.encoded()))
    #expect(encoded == model)
    let predictor = try Predictor(model: model)
    let outputs = try predictor.outputBlobs(["x": Tensor(shape: [1, 1, 2, 1, 1], [1, 2])])
    #expect(outputs["y"]?.elements == [10, 17])
  }

  @Test func arraysPassByName() throws {
    let model = Self.pipeline([
      Self.model(Self.dense, from: ("x", Self.array([2])), to: ("y", Self.array([2]))),
      Self.model(Self.dense, from: ("y", Self.array([2])), to: ("z", Self.array([2]))),
    ])
    #expect(model.validate().isEmpty)
    let predictor = try Predictor(model: model)
    // [1, 1] → [8, 13] → [8 + 26 + 5, 24 + 52 + 6]
    let one = try predictor.predict(["x": .array(Tensor(shape: [2], [1, 1]))])
    #expect(one.outputs.map(\.name) == ["z"])
    #expect(one.outputs[0].value == Tensor(shape: [2], [39, 82]))
    // [0, 0] → [5, 6] → [5 + 12 + 5, 15 + 24 + 6]
    let batch = try predictor.predict(["x": .array(Tensor(shape: [2, 2], [1, 1, 0, 0]))])
    #expect(batch.outputs[0].value == Tensor(shape: [2, 2], [39, 82, 22, 45]))
  }

  @Test func picturesPassInEightBits() throws {
    func image(_ color: ImageFeatureType.ColorSpace) -> FeatureType.Kind {
      .image(ImageFeatureType(width: 1, height: 1, colorSpace: color))
    }
    let model = Self.pipeline([
      Self.model(
        Activation(.linear(alpha: 2, beta: 0.4)), from: ("x", image(.rgb)), to: ("y", image(.rgb))),
      Self.model(Activation(.relu), from: ("y", image(.bgr)), to: ("z", Self.array([3, 1, 1]))),
    ])
    let predictor = try Predictor(model: model)
    let result = try predictor.predict(["x": .array(Tensor(shape: [1, 1, 3], [10, 20, 250]))])
    // 20.4, 40.4 and 500.4 become 20, 40 and 255; the second network takes blue first.
    #expect(result.outputs[0].value.elements == [255, 40, 20])
  }

  @Test func theLastClassifierHasTheLabels() throws {
    var last = Self.model(Self.dense, from: ("y", Self.array([2])), to: ("z", Self.array([2])))
    last = try {
      var edit = ModelEdit()
      edit.classes = ModelEdit.Classes(labels: .string(["a", "b"]))
      return try edit.apply(to: last).model
    }()
    var model = Self.pipeline([
      Self.model(Self.dense, from: ("x", Self.array([2])), to: ("y", Self.array([2]))), last,
    ])
    model.type = model.type?.pipeline.map { .pipelineClassifier($0) }
    model.description?.predictedFeatureName = "classLabel"
    model.description?.predictedProbabilitiesName = "z"
    #expect(model.classLabels == .string(["a", "b"]))
    let result = try Predictor(model: model).predict(["x": .array(Tensor(shape: [2], [1, 1]))])
    guard case .classes? = result.outputs.first?.kind else {
      Issue.record("no classes")
      return
    }
    #expect(result.outputs[0].value.elements == [39, 82])
  }

  @Test func whatIsNoNetworkIsRefused() throws {
    var other = Self.model(Self.dense, from: ("y", Self.array([2])), to: ("z", Self.array([2])))
    other.type = .opaque(OpaqueMessage(field: 2002, name: "visionFeaturePrint", payload: Bytes()))
    let model = Self.pipeline([
      Self.model(Self.dense, from: ("x", Self.array([2])), to: ("y", Self.array([2]))), other,
    ])
    let error = #expect(throws: ModelError.self) { try Predictor(model: model) }
    #expect(error?.code == .unsupported)
    #expect(error?.message == "pipelines with a model of type visionFeaturePrint cannot run")
  }

  /// first: x → hidden → y; second: y → hidden → z; each computes y = [[1, 2], [3, 4]] x + [5, 6],
  /// then a ReLU.
  private static var two: Model {
    func member(_ from: String, _ to: String) -> Model {
      var model = Self.model(dense, from: (from, array([2])), to: (to, array([2])))
      model.neuralNetwork?.layers[0].output = ["hidden"]
      var relu = NeuralNetworkLayer()
      relu.name = "relu of \(to)"
      relu.parameters = Activation(.relu)
      relu.input = ["hidden"]
      relu.output = [to]
      model.neuralNetwork?.layers.append(relu)
      return model
    }
    var model = pipeline([member("x", "y"), member("y", "z")])
    model.type?.pipeline?.names = ["first", "second"]
    return model
  }

  @Test(arguments: [
    ("y", "y", [0]), ("x", "x", [0]), ("first/hidden", "hidden", [0]),
    ("second/hidden", "hidden", [1]), ("relu of z", "z", [1]),
  ])
  func blobsOfModelsByName(_ name: String, _ blob: String, _ models: [Int]) throws {
    let place = try Self.two.position(of: name)
    #expect(place.blob == blob && place.models == models)
  }

  @Test func blobsThatSeveralModelsHave() {
    let error = #expect(throws: ModelError.self) { try Self.two.position(of: "hidden") }
    #expect(error?.hint == "write 'first/hidden' or 'second/hidden'")
    #expect(throws: ModelError.self) { try Self.two.position(of: "third/hidden") }
  }

  @Test func randomInputsOfPrograms() throws {
    let programs = try Self.two.pipelineModels.map { try $0.mlProgram() }
    let predictor = try Predictor(model: Self.pipeline(programs))
    let inputs = try predictor.randomBlobs(seed: 1)
    let x = try #require(inputs["x"]).elements
    func relu(_ x: ArraySlice<Float>) -> ArraySlice<Float> {
      let (a, b) = (x[0], x[1])
      return [max(0, a + 2 * b + 5), max(0, 3 * a + 4 * b + 6)]
    }
    let z = try #require(try predictor.outputBlobs(inputs)["z"]).elements
    #expect(zip(z, relu(relu(x[...]))).allSatisfy { abs($0 - $1) < 1e-4 } && z.count == 2)
  }

  @Test func partsRunAndAreCompared() throws {
    var edit = ModelEdit()
    edit.cutInputs = ["first/hidden"]
    let part = try edit.apply(to: Self.two).model
    var check = EditCheck(edit)
    try check.check(Self.two, part)
    #expect(check.notes == ["same predictions before and after: y, z"])
    // [1, −1] → relu [1, 0] → [1 + 5, 3 + 6]
    let result = try Predictor(model: part)
      .predict(["hidden": .array(Tensor(shape: [2], [1, -1]))])
    #expect(result.outputs[0].value.elements == [6, 9])
    var wrong = part
    wrong.type?.pipeline?.models[0].neuralNetwork?.layers[0].parameters = Activation(
      .linear(alpha: 2, beta: 0))
    #expect(throws: ModelError.self) { try check.check(Self.two, wrong) }
  }

  @Test func aBlobInsideIsAnOutputOfAll() throws {
    var edit = ModelEdit()
    edit.addedOutputs = ["second/hidden", "y"]
    let more = try edit.apply(to: Self.two).model
    let result = try Predictor(model: more).predict(["x": .array(Tensor(shape: [2], [1, 1]))])
    #expect(result.outputs.map(\.name) == ["z", "hidden", "y"])
    // [1, 1] → [8, 13] → [8 + 26 + 5, 24 + 52 + 6]
    #expect(result.outputs[1].value.elements == [39, 82])
    #expect(result.outputs[2].value.elements == [8, 13])
  }
}
