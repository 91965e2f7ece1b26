import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

struct ValidationTests {
  private func dense(_ inputs: Int, _ outputs: Int) -> InnerProduct {
    var layer = InnerProduct()
    layer.inputChannels = inputs
    layer.outputChannels = outputs
    layer.matrix = Weights([Float](repeating: 1, count: inputs * outputs))
    return layer
  }

  private func model(_ layers: [NeuralNetworkLayer], input: [Int] = [4], output: String = "out")
    -> Model
  {
    var network = NeuralNetwork()
    network.layers = layers
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetwork(network)
    model.description?.input = [
      FeatureDescription(
        name: "in", kind: .multiArray(ArrayFeatureType(shape: input, dataType: .double)))
    ]
    model.description?.output = [
      FeatureDescription(
        name: output, kind: .multiArray(ArrayFeatureType(shape: [], dataType: .double)))
    ]
    return model
  }

  /// The reasons not to write the model.
  private func messages(_ model: Model) -> [String] {
    let faults = model.faults()
    return (faults.errors + faults.doubts).map(\.description)
  }

  @Test func soundModelsHaveNoFaults() {
    #expect(
      messages(model([NeuralNetworkLayer("d", dense(4, 2), input: ["in"], output: ["out"])]))
        == [])
  }

  /// Conversions that coremltools gets wrong: it splits the biases of a `reset_after` GRU for a
  /// different layout, and puts a dense layer after a reshape although Keras applies it to the last
  /// axis.
  static let faultyReferences = [
    "gru_12_reset_after", "gru_13_recurrent_activation_reset_after", "reshape_i_i_neg_after_dense",
  ]

  /// Models from coremltools are valid except for its bugs, which are found.
  @Test(.shared("corpus")) func referenceModelsHaveNoFaults() throws {
    for path in sharedModels where path.hasSuffix("coremltools.mlmodel") {
      let faults = try Model(uncheckedContentsOf: path).validate()
      let isFaulty = Self.faultyReferences.contains { path.contains($0) }
      #expect(faults.isEmpty != isFaulty, "\(path): \(faults)")
    }
  }

  @Test func saysEverythingAtOnce() {
    var wrong = dense(4, 2)
    wrong.matrix = Weights([1, 2, 3])
    let found = model(
      [
        NeuralNetworkLayer("a", wrong, input: ["in"], output: ["x"]),
        NeuralNetworkLayer("a", Activation(), input: ["nowhere"], output: ["x"]),
        NeuralNetworkLayer("", Custom(), input: ["x"], output: ["y"]),
      ], output: "z")
    let texts = messages(found)
    let expected = [
      "layer 'a' (innerProduct): weights: 3 values; 8 are needed",
      "layer 'a' (activation): NonlinearityType: the function is missing",
      "another layer has the same name", "no earlier layer produces 'nowhere'",
      "'x' is produced more than once", "className: empty",
      "description.output.z: no layer produces it",
    ]
    for text in expected {
      #expect(texts.contains { $0.contains(text) }, "\(text) not in \(texts)")
    }
    #expect(texts.count == expected.count, "\(texts)")
  }

  @Test func shapesThatDoNotFit() {
    let texts = messages(
      model([
        NeuralNetworkLayer("d", dense(5, 2), input: ["in"], output: ["x"]),
        NeuralNetworkLayer("e", dense(2, 2), input: ["x"], output: ["out"]),
      ]))
    #expect(texts.count == 1)
    #expect(texts.first?.contains("layer 'd' (innerProduct): inputChannels") ?? false)
  }

  /// As Apple's validator requires of `visionFeaturePrint`, field 2002 of the specification.
  @Test func featurePrintsTakeImages() {
    var found = model([])
    found.type = .opaque(OpaqueMessage(field: 2002, name: "visionFeaturePrint", payload: Bytes()))
    #expect(messages(found).contains { $0.contains("visionFeaturePrint takes only images") })
  }

  @Test func classifiers() {
    var classifier = NeuralNetworkClassifier()
    classifier.network.layers = [
      NeuralNetworkLayer("d", dense(4, 3), input: ["in"], output: ["p"])
    ]
    classifier.classLabels = .string(["a", "b"])
    var found = model([], output: "label")
    found.type = .neuralNetworkClassifier(classifier)
    found.description?.predictedFeatureName = "label"
    var texts = messages(found)
    #expect(texts.count == 2)
    #expect(texts.contains { $0.contains("2 labels for the 3 probabilities of 'p'") })
    #expect(texts.contains { $0.contains("'label' is not an output of the labels' type (string)") })
    classifier.classLabels = .string(["a", "b", "c"])
    found.type = .neuralNetworkClassifier(classifier)
    found.description?.output = [FeatureDescription(name: "label", kind: .string)]
    #expect(messages(found) == [])
    found.description?.predictedProbabilitiesName = "probabilities"
    #expect(messages(found).count == 1)
    found.description?.output.append(
      FeatureDescription(name: "probabilities", kind: .dictionary(.string)))
    texts = messages(found)
    #expect(texts == [])
  }

  @Test func imagesAndPreprocessing() {
    var found = model([NeuralNetworkLayer("f", Flatten(), input: ["in"], output: ["out"])])
    var step = NeuralNetworkPreprocessing()
    step.preprocessor = .scaler(NeuralNetworkImageScaler())
    found.neuralNetwork?.preprocessing = [step]
    #expect(messages(found) == ["preprocessing[0]: the model has no image input"])
    found.neuralNetwork?.preprocessing[0].featureName = "in"
    #expect(messages(found) == ["preprocessing[0]: input 'in' is not an image"])
    found.description?.input = [
      FeatureDescription(
        name: "in", kind: .image(ImageFeatureType(width: 2, height: 3, colorSpace: .rgb)))
    ]
    #expect(messages(found) == [])
    var mean = NeuralNetworkMeanImage()
    mean.meanImage = [1, 2, 3]
    found.neuralNetwork?.preprocessing[0].preprocessor = .meanImage(mean)
    #expect(messages(found) == ["preprocessing[0]: 3 mean values for an image with 18"])
    found.neuralNetwork?.preprocessing = []
    found.description?.input[0].type?.kind = .image(ImageFeatureType())
    #expect(messages(found).count == 2)
  }

  @Test func versions() {
    let flatten = NeuralNetworkLayer("f", Flatten(), input: ["in"], output: ["out"])
    #expect(model([flatten]).minimumSpecificationVersion == 1)
    var custom = Custom()
    custom.className = "A"
    let other = NeuralNetworkLayer("c", custom, input: ["in"], output: ["out"])
    #expect(model([other]).minimumSpecificationVersion == 2)
    var half = dense(1, 1)
    half.matrix = Weights()
    half.matrix?.float16Value = Bytes([0, 0] as [UInt8])
    #expect(
      model([NeuralNetworkLayer("h", half, input: ["in"], output: ["out"])])
        .minimumSpecificationVersion == 2)
    var codes = dense(1, 1)
    codes.matrix = Weights()
    codes.matrix?.rawValue = Bytes([0] as [UInt8])
    codes.matrix?.quantization = Quantization()
    #expect(
      model([NeuralNetworkLayer("q", codes, input: ["in"], output: ["out"])])
        .minimumSpecificationVersion == 3)
    var flexible = model([flatten])
    var array = ArrayFeatureType(shape: [4], dataType: .double)
    array.flexibility = .enumerated([[4], [5]])
    flexible.description?.input[0].type?.kind = .multiArray(array)
    #expect(flexible.minimumSpecificationVersion == 3)
    var exact = model([flatten])
    exact.neuralNetwork?.arrayInputShapeMapping = .exact
    #expect(exact.minimumSpecificationVersion == 4)
    var future = model([flatten])
    future.specificationVersion = 99
    #expect(messages(future).first?.contains("version 99") ?? false)
    #expect(SpecificationVersion.oldestSystem(3) == "iOS 12, macOS 10.14")
  }

  /// The versions that coremltools chose are as low as possible.
  @Test(.shared("corpus")) func referenceVersions() throws {
    for path in sharedModels where path.hasSuffix("coremltools.mlmodel") {
      // For a GRU with `reset_after`, coremltools writes too many biases.
      let model = try Model(uncheckedContentsOf: path)
      #expect(model.minimumSpecificationVersion == model.specificationVersion, "\(path)")
    }
  }
}
