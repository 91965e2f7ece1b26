import CoreMLModel
import TensorCore
import Testing

@testable import ModelTransforms

/// Outputs inside the models of a pipeline, and parts of it. `Sample.pipeline` has two networks,
/// each with a blob "hidden", connected by "between".
struct PipelinePartsTests {
  private func shapes(_ network: Model) -> [String: [Int]] {
    ["input": [1, 1, 2, 1, 1], "hidden": [1, 1, 2, 1, 1], "between": [1, 1, 2, 1, 1]]
  }

  private func cut(
    _ model: Model = Sample.pipeline, from inputs: [BlobPath], to outputs: [BlobPath]
  ) throws -> Model {
    try model.cut(from: inputs, to: outputs, shapes: shapes, dataType: .double)
  }

  private func names(_ features: [FeatureDescription]?) -> [String] { (features ?? []).map(\.name) }

  private let first = BlobPath("hidden", models: [0])
  private let second = BlobPath("hidden", models: [1])
  private let output = BlobPath("output", models: [1])

  @Test func aBlobInsideBecomesAnOutput() throws {
    let more = try Sample.pipeline.addingOutput(second, shapes: shapes, dataType: .float32)
    #expect(names(more.description?.output) == ["output", "hidden"])
    #expect(names(more.pipelineModels[1].description?.output) == ["output", "hidden"])
    #expect(more.pipelineModels[0] == Sample.pipeline.pipelineModels[0])
    guard case .multiArray(let array)? = more.description?.output[1].type?.kind else {
      Issue.record("no array")
      return
    }
    #expect(array.shape == [2] && array.dataType == .float32)
    // The other network's blob with that name cannot become an output, too.
    #expect(throws: ModelError.self) {
      try more.addingOutput(first, shapes: shapes, dataType: .double)
    }
    let less = try more.removingOutput("hidden")
    #expect(less.description == Sample.pipeline.description)
    #expect(less.pipelineModels == more.pipelineModels)
  }

  @Test func whatPassesBetweenBecomesAnOutput() throws {
    let more = try Sample.pipeline.addingOutput(
      BlobPath("between", models: [0]), shapes: shapes, dataType: .double)
    #expect(more.pipelineModels == Sample.pipeline.pipelineModels)
    #expect(try more.removingOutput("between") == Sample.pipeline)
  }

  @Test func aPartOverBothModels() throws {
    let part = try cut(from: [first], to: [output])
    #expect(names(part.description?.input) == ["hidden"])
    #expect(part.description?.output == Sample.pipeline.description?.output)
    #expect(part.type?.pipeline?.names == ["first", "second"])
    #expect(part.pipelineModels[0].neuralNetwork?.layers.map(\.name) == ["relu"])
    #expect(part.pipelineModels[1] == Sample.pipeline.pipelineModels[1])
    #expect(part.validate().isEmpty)
    // The part's first and last blobs have the same name.
    let error = #expect(throws: ModelError.self) { try cut(from: [first], to: [second]) }
    #expect(error?.code == .mismatch)
  }

  @Test func aSingleModelStandsAlone() throws {
    var pipeline = Sample.pipeline
    pipeline.description?.metadata = Metadata()
    pipeline.description?.metadata?.author = "author"
    pipeline.description?.metadata?.userDefined = ["assay.layout.output": "NC"]
    let part = try cut(pipeline, from: [], to: [BlobPath("between", models: [0])])
    var expected = Sample.pipeline.pipelineModels[0]
    expected.description?.metadata = Metadata()
    expected.description?.metadata?.author = "author"
    #expect(part == expected)
    let inside = try cut(from: [second], to: [output])
    #expect(names(inside.description?.input) == ["hidden"])
    #expect(inside.neuralNetwork?.layers.map(\.name) == ["relu"])
    let rest = try cut(from: [BlobPath("between", models: [0])], to: [output])
    #expect(rest == Sample.pipeline.pipelineModels[1])
  }

  @Test func whatDoesNotLeadThere() {
    for (inputs, outputs) in [
      ([second], [BlobPath("between", models: [0])]), ([output], [output]),
      ([BlobPath("nothing", models: [0])], [output]),
    ] {
      #expect(throws: ModelError.self) { try cut(from: inputs, to: outputs) }
    }
    #expect(throws: ModelError.self) {
      try Sample.dense.cut(
        from: ["output"], to: ["hidden"], shapes: shapes(Sample.dense), dataType: .double)
    }
  }

  @Test func aPipelineInAPipeline() throws {
    var outer = Sample.pipeline
    var last = Sample.dense
    last.description?.input[0].name = "output"
    last.description?.output[0].name = "end"
    last.neuralNetwork?.layers[0].input = ["output"]
    last.neuralNetwork?.layers[0].output = ["deep"]
    last.neuralNetwork?.layers[1].input = ["deep"]
    last.neuralNetwork?.layers[1].output = ["end"]
    outer.type?.pipeline?.models = [Sample.pipeline, last]
    outer.description?.output = last.description?.output ?? []
    let part = try cut(
      outer, from: [BlobPath("hidden", models: [0, 1])], to: [BlobPath("deep", models: [1])])
    #expect(names(part.description?.input) == ["hidden"])
    #expect(names(part.description?.output) == ["deep"])
    #expect(
      part.pipelineModels.map { $0.neuralNetwork?.layers.map(\.name) } == [["relu"], ["dense"]])
    let more = try outer.addingOutput(
      BlobPath("hidden", models: [0, 0]), shapes: shapes, dataType: .double)
    #expect(names(more.description?.output) == ["end", "hidden"])
    #expect(names(more.pipelineModels[0].description?.output) == ["output", "hidden"])
  }

  @Test func weightsOfAModel() throws {
    let place = WeightPath(layer: "second/dense", parameter: "bias")
    let edited = try Sample.pipeline.replacingWeights([place: FloatValues([7, 8])])
    #expect(edited.pipelineModels[0] == Sample.pipeline.pipelineModels[0])
    let dense = edited.pipelineModels[1].neuralNetwork?.layers[0].parameters as? InnerProduct
    #expect(try dense?.bias?.floatValue.array() == [7, 8])
    for name in ["dense", "third/dense", "second/relu"] {
      #expect(throws: ModelError.self) {
        try Sample.pipeline.replacingWeights([
          WeightPath(layer: name, parameter: "bias"): FloatValues([7, 8])
        ])
      }
    }
  }

  /// A model that is not a network is kept or removed as a whole.
  @Test func modelsOfOtherTypes() throws {
    var pipeline = Sample.pipeline
    pipeline.type?.pipeline?.models[0].type = .opaque(
      OpaqueMessage(field: 604, name: "scaler", payload: Bytes()))
    let part = try cut(pipeline, from: [], to: [second])
    #expect(part.pipelineModels[0] == pipeline.pipelineModels[0])
    #expect(part.pipelineModels[1].neuralNetwork?.layers.map(\.name) == ["dense"])
    let rest = try cut(pipeline, from: [BlobPath("between", models: [0])], to: [output])
    #expect(rest == pipeline.pipelineModels[1])
  }

  @Test func aClassifierKeepsItsLabels() throws {
    var pipeline = Sample.pipeline
    let classifier = try pipeline.pipelineModels[1].settingClassLabels(.string(["a", "b"]))
    pipeline.type?.pipeline?.models[1] = classifier
    pipeline.type = pipeline.type?.pipeline.map { .pipelineClassifier($0) }
    pipeline.description?.output = classifier.description?.output ?? []
    pipeline.description?.predictedFeatureName = "classLabel"
    pipeline.description?.predictedProbabilitiesName = "output"
    let head = try cut(pipeline, from: [first], to: [output])
    #expect(head.classLabels == .string(["a", "b"]))
    #expect(head.pipelineModels[1] == classifier)
    #expect(names(head.description?.output) == ["output", "classLabel"])
    let trunk = try cut(pipeline, from: [], to: [second])
    #expect(trunk.classLabels == nil && trunk.description?.predictedFeatureName == "")
    guard case .pipeline? = trunk.type else {
      Issue.record("still a classifier")
      return
    }
  }
}
