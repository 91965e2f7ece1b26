import CoreMLModel
import TensorCore

/// Small models to transform.
enum Sample {
  /// input [2] → dense (weights [[1, 2], [3, 4]], bias [5, 6]) → "hidden" → relu → output [2].
  static var dense: Model {
    var dense = InnerProduct()
    dense.inputChannels = 2
    dense.outputChannels = 2
    dense.hasBias = true
    dense.matrix = Weights([1, 2, 3, 4])
    dense.bias = Weights([5, 6])
    return model(
      [
        NeuralNetworkLayer("dense", dense, input: ["input"], output: ["hidden"]),
        NeuralNetworkLayer("relu", Activation(.relu), input: ["hidden"], output: ["output"]),
      ], array([2]), array([2]))
  }

  /// image [3, 4, 5] in RGB → relu → output [3, 4, 5].
  static var picture: Model {
    var model = model(
      [NeuralNetworkLayer("relu", Activation(.relu), input: ["input"], output: ["output"])],
      .image(ImageFeatureType(width: 5, height: 4, colorSpace: .rgb)), array([3, 4, 5]))
    var step = NeuralNetworkPreprocessing()
    step.featureName = "input"
    var scaler = NeuralNetworkImageScaler()
    scaler.channelScale = 2
    step.preprocessor = .scaler(scaler)
    model.neuralNetwork?.preprocessing = [step]
    return model
  }

  static func array(_ shape: [Int]) -> FeatureType.Kind {
    .multiArray(ArrayFeatureType(shape: shape, dataType: .double))
  }

  static func model(
    _ layers: [NeuralNetworkLayer], _ input: FeatureType.Kind, _ output: FeatureType.Kind
  ) -> Model {
    var model = model(layers)
    model.description?.input = [FeatureDescription(name: "input", kind: input)]
    model.description?.output = [FeatureDescription(name: "output", kind: output)]
    return model
  }

  /// A model with these layers and no interface.
  static func model(_ layers: [NeuralNetworkLayer]) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetwork(network)
    return model
  }

  /// `dense` applied twice: input → "between" → output.
  static var pipeline: Model {
    var first = dense
    first.description?.output[0].name = "between"
    first.neuralNetwork?.layers[1].output = ["between"]
    var second = dense
    second.description?.input[0].name = "between"
    second.neuralNetwork?.layers[0].input = ["between"]
    var pipeline = Pipeline()
    pipeline.models = [first, second]
    pipeline.names = ["first", "second"]
    var model = Model()
    model.specificationVersion = 1
    model.description = dense.description
    model.type = .pipeline(pipeline)
    return model
  }
}
