import CoreMLModel
import TensorCore
import Testing

@testable import ModelPrediction

@Suite struct SourceLayoutTests {
  @Test func imagesGoToPlanesAndBack() throws {
    let layout = try #require(SourceLayout("NHWC"))
    let image = Tensor(shape: [1, 1, 2, 3], [1, 2, 3, 4, 5, 6])
    let blob = try layout.canonical(image, feature: "image")
    #expect(blob == Tensor(shape: [1, 1, 3, 1, 2], [1, 4, 2, 5, 3, 6]))
    #expect(layout.source(blob) == image)
  }

  @Test func sequencesComeFirst() throws {
    let layout = try #require(SourceLayout("NTC"))
    let array = Tensor(shape: [2, 3, 1], [1, 2, 3, 4, 5, 6])
    let blob = try layout.canonical(array, feature: "x")
    #expect(blob == Tensor(shape: [3, 2, 1, 1, 1], [1, 4, 2, 5, 3, 6]))
    #expect(layout.source(blob) == array)
  }

  @Test func theBatchMayBeLeftOut() throws {
    let layout = try #require(SourceLayout("NC"))
    #expect(try layout.canonical(Tensor(shape: [4]), feature: "x").shape == [1, 1, 4, 1, 1])
    #expect(throws: ModelError.self) { try layout.canonical(Tensor(shape: []), feature: "x") }
  }

  @Test func stepsAreThoseOfTheRecordedShape() throws {
    let layout = try #require(SourceLayout("NTC"))
    func steps(_ text: String?) -> Int? {
      var model = Model()
      model.description = ModelDescription()
      model.description?.metadata = Metadata()
      model.description?.metadata?.userDefined["assay.shape.x"] = text
      return layout.steps(of: "x", in: model)
    }
    #expect(steps("?,10,3") == 10)
    for text in [nil, "?,?,3", "?,10", "?,0,3", "?,-4,3", "?,99999999999999999999,3", ""] {
      #expect(steps(text) == nil, "\(text ?? "nil")")
    }
  }

  @Test func unknownOrDoubleLettersAreNoLayout() {
    #expect(SourceLayout("NXC") == nil && SourceLayout("NCC") == nil && SourceLayout("") == nil)
  }
}

@Suite struct ExactLayoutTests {
  @Test func axesMoveAndComeBack() throws {
    let layout = try #require(ExactLayout("NHWC:NCHW"))
    let image = Tensor(shape: [1, 1, 2, 3], [1, 2, 3, 4, 5, 6])
    let blob = try layout.canonical(image, feature: "image")
    #expect(blob == Tensor(shape: [1, 3, 1, 2], [1, 4, 2, 5, 3, 6]))
    #expect(layout.source(blob) == image)
    #expect(try layout.canonical(image.reshaped([1, 2, 3]), feature: "image") == blob)
  }

  @Test func axesOfOneSideHaveLengthOne() throws {
    let layout = try #require(ExactLayout("NTC:NCZT"))
    let array = Tensor(shape: [1, 3, 2], [1, 2, 3, 4, 5, 6])
    let blob = try layout.canonical(array, feature: "x")
    #expect(blob == Tensor(shape: [1, 2, 1, 3], [1, 3, 5, 2, 4, 6]))
    #expect(layout.source(blob) == array)
    #expect(throws: ModelError.self) {
      try layout.canonical(Tensor(shape: [2, 3]).reshaped([2, 3, 1, 1]), feature: "x")
    }
  }

  @Test func otherTextsAreNoLayout() {
    for text in ["NHWC", "NC:", "NC:NN", "nc:NC", "N:C:H", "", ":"] {
      #expect(ExactLayout(text) == nil, "\(text)")
    }
  }

  /// Twice the input, one batch item at a time, even in a model without a batch axis.
  @Test(arguments: [("NTC:NCT", [1, 2, 3]), ("NTC:CT", [2, 3])])
  func itemsOfABatchRunInTurn(_ layout: String, _ shape: [Int]) throws {
    var network = NeuralNetwork()
    network.arrayInputShapeMapping = .exact
    network.layers = [
      NeuralNetworkLayer("sum", AddBroadcastable(), input: ["x", "x"], output: ["y"])
    ]
    var model = Model()
    model.specificationVersion = 4
    model.type = .neuralNetwork(network)
    var description = ModelDescription()
    description.input = [
      FeatureDescription(
        name: "x", kind: .multiArray(ArrayFeatureType(shape: shape, dataType: .float32)))
    ]
    description.output = [
      FeatureDescription(
        name: "y", kind: .multiArray(ArrayFeatureType(shape: [], dataType: .float32)))
    ]
    description.metadata = Metadata()
    description.metadata?.userDefined = ["assay.layout.x": layout, "assay.layout.y": layout]
    model.description = description
    #expect(model.validate().isEmpty)
    #expect(model.minimumSpecificationVersion == 4)
    let input = Tensor(shape: [2, 3, 2], (1...12).map { Float($0) })
    let prediction = try Predictor(model: model).predict(["x": .array(input)])
    #expect(
      prediction.outputs.map(\.value)
        == [Tensor(shape: [2, 3, 2], (1...12).map { Float($0) * 2 })])
    let item = Tensor(shape: [3, 2], (1...6).map { Float($0) })
    #expect(
      try Predictor(model: model).predict(["x": .array(item)]).outputs.map(\.value)
        == [Tensor(shape: [1, 3, 2], (1...6).map { Float($0) * 2 })])
    network.arrayInputShapeMapping = .rank5
    model.type = .neuralNetwork(network)
    #expect(model.validate().contains { $0.field == "arrayInputShapeMapping" })
  }
}
