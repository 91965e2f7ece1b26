import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

struct InterfaceTests {
  private let image = single("GlobalAveragePooling2D", input: "[null, 4, 5, 3]")

  private func converted(_ change: (inout ConversionOptions) -> Void) throws -> Converted {
    var options = ConversionOptions()
    change(&options)
    return try convert(image, options: options)
  }

  private func scaler(_ converted: Converted) -> NeuralNetworkImageScaler? {
    guard
      case .scaler(let scaler)? = converted.result.model.neuralNetwork?.preprocessing.first?
        .preprocessor
    else { return nil }
    return scaler
  }

  @Test func featuresAreRenamedInOrder() throws {
    let converted = try converted {
      $0.inputNames = ["picture"]
      $0.outputNames = ["means"]
    }
    #expect(converted.layers.first?.input == ["picture"])
    #expect(converted.layers.last?.output == ["means"])
    #expect(converted.metadata("assay.layout.picture") == "NHWC")
    #expect(throws: ModelError.self) { try self.converted { $0.inputNames = ["a", "b"] } }
    #expect(throws: ModelError.self) {
      try self.converted {
        $0.inputNames = ["a"]
        $0.outputNames = ["a"]
      }
    }
  }

  @Test func anImageInputHasAScaler() throws {
    let converted = try converted {
      $0.imageInputs = ["layer_input"]
      $0.preprocessing.scale = PerFeature(2)
      $0.preprocessing.redBias = PerFeature(named: ["layer_input": -1])
      $0.preprocessing.color = PerFeature(.bgr)
    }
    guard case .image(let type)? = converted.result.model.description?.input.first?.type?.kind
    else {
      Issue.record("no image")
      return
    }
    #expect(type.width == 5 && type.height == 4 && type.colorSpace == .bgr)
    #expect(scaler(converted)?.channelScale == 2)
    #expect(scaler(converted)?.redBias == -1)
    #expect(scaler(converted)?.greenBias == 0)
  }

  @Test func meanAndDeviation() throws {
    // (x − m) / 2 = x/2 − m/2
    let same = try converted {
      $0.imageInputs = ["layer_input"]
      $0.preprocessing.mean = PerFeature([1, 2, 3])
      $0.preprocessing.std = PerFeature([2, 2, 2])
    }
    #expect(scaler(same)?.channelScale == 0.5)
    #expect(scaler(same)?.redBias == -0.5 && scaler(same)?.blueBias == -1.5)
    #expect(same.types == ["pooling"])
    let different = try converted {
      $0.imageInputs = ["layer_input"]
      $0.preprocessing.mean = PerFeature([1, 2, 3])
      $0.preprocessing.std = PerFeature([1, 2, 4])
      $0.preprocessing.color = PerFeature(.bgr)
    }
    #expect(scaler(different)?.channelScale == 1 && scaler(different)?.redBias == -1)
    #expect(different.types == ["scale", "pooling"])
    // Blue comes first.
    #expect(
      try (different.layers[0].parameters as? Scale)?.scale?.floatValue.array() == [0.25, 0.5, 1])
    #expect(different.layers[1].input == different.layers[0].output)
  }

  @Test func presets() throws {
    let caffe = try converted {
      $0.imageInputs = ["layer_input"]
      $0.preprocessing.preset = .kerasCaffe
    }
    #expect(scaler(caffe)?.redBias == -123.68 && scaler(caffe)?.blueBias == -103.939)
    let tensorFlow = try converted {
      $0.imageInputs = ["layer_input"]
      $0.preprocessing.preset = .kerasTF
    }
    #expect(scaler(tensorFlow)?.channelScale == Float(1 / 127.5))
    #expect(scaler(tensorFlow)?.greenBias == -1)
  }

  @Test func namesThatDoNotExistAreRefused() throws {
    #expect(throws: ModelError.self) { try converted { $0.imageInputs = ["nothing"] } }
    #expect(throws: ModelError.self) { try converted { $0.imageOutputs = ["layer"] } }
    #expect(throws: ModelError.self) {
      try converted { $0.preprocessing.redBias = PerFeature(named: ["nothing": 1]) }
    }
  }

  /// The only input with an image's shape becomes an image if there are preprocessing options.
  @Test func preprocessingMakesAnImage() throws {
    let scaled = try converted { $0.preprocessing.scale = PerFeature(2) }
    #expect(scaler(scaled)?.channelScale == 2 && scaled.result.notes.isEmpty)
  }

  @Test func classifiers() throws {
    let converted = try converted {
      $0.classifier = ClassifierOptions(labels: .string(["a", "b", "c"]))
    }
    guard case .neuralNetworkClassifier(let classifier)? = converted.result.model.type else {
      Issue.record("no classifier")
      return
    }
    #expect(classifier.labelProbabilityLayerName == "layer")
    let description = converted.result.model.description
    #expect(description?.output.map(\.name) == ["layer", "classLabel"])
    #expect(description?.output.first?.type?.kind == .dictionary(.string))
    #expect(description?.output.last?.type?.kind == .string)
    #expect(description?.predictedFeatureName == "classLabel")
    #expect(description?.predictedProbabilitiesName == "layer")
    let error = modelError {
      try self.converted { $0.classifier = ClassifierOptions(labels: .int64([1, 2])) }
    }
    #expect(error?.message == "2 class labels for the 3 values of output 'layer'")
  }

  @Test func unknownSizesAreFixedByName() throws {
    let json = single("GlobalAveragePooling2D", input: "[null, null, null, 3]")
    let error = modelError { try convert(json) }
    #expect(error?.hint?.contains("inputShape layer_input=?,?,?,3") == true)
    var options = ConversionOptions()
    options.inputShapes["layer_input"] = [nil, 8, 9, 3]
    #expect(try convert(json, options: options).inputShape() == [3, 8, 9])
    options.inputShapes["layer_input"] = [nil, 8, 9, 4]
    #expect(modelError { try convert(json, options: options) }?.code == .mismatch)
  }

  /// Core ML rejects layers of specification 4 in networks that map arrays to five axes.
  @Test func layersOfVersion4TakeArraysAsTheyAreDeclared() throws {
    let image = try convert(single("AutoContrast", input: "[null, 8, 9, 3]"))
    #expect(image.result.model.neuralNetwork?.arrayInputShapeMapping == .exact)
    #expect(image.result.model.specificationVersion == 4)
    #expect(image.inputShape() == [1, 1, 3, 8, 9])
    let recorded = image.result.model.description?.metadata?.userDefined
    #expect(recorded?["assay.layout.layer_input"] == "NHWC:TNCHW")
    let plain = try convert(single("Dropout", input: "[null, 8, 9, 3]", #""rate": 0.5"#))
    #expect(plain.result.model.neuralNetwork?.arrayInputShapeMapping == .rank5)
    #expect(plain.inputShape() == [3, 8, 9])
  }

  @Test func layersAreShownAsTheyAreVisited() throws {
    final class Lines: @unchecked Sendable { var all: [String] = [] }
    let lines = Lines()
    var options = ConversionOptions()
    options.onVisit = { lines.all.append($0) }
    _ = try convert(
      single("Dense", input: "[null, 3]", #""units": 2, "activation": "relu", "use_bias": false"#),
      ["layer": [.init("kernel:0", [3, 2])]], options: options)
    #expect(
      lines.all == [
        "0 : layer_input, InputLayer", "1 : layer, Dense", "2 : layer__activation__, Activation",
      ])
  }

  @Test func thePlanSaysWhatBecomesOfEachLayer() throws {
    let converted = try convert(
      #"""
      {"class_name": "Sequential", "config": [
        {"class_name": "Dropout", "config": {"name": "d", "batch_input_shape": [null, 3]}},
        {"class_name": "Activation", "config": {"name": "a", "activation": "selu"}}]}
      """#)
    #expect(
      converted.result.plan == [
        PlanEntry(layer: "d_input", layerClass: "InputLayer", becomes: []),
        PlanEntry(layer: "d", layerClass: "Dropout", becomes: []),
        PlanEntry(
          layer: "a", layerClass: "Activation", becomes: ["activation 'a__elu__'", "multiply 'a'"]),
      ])
  }
}
