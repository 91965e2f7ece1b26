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
    // The inner blob that was called "image" makes room.
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
}
