import CoreMLModel
import TensorCore
import TestSupport

@testable import Engine

/// Small networks for tests.
enum TestNetwork {
  /// A model with one array input `in` with `shape` `[C, H, W]` and the named outputs.
  static func model(
    _ shape: [Int], outputs: [String] = ["out"], _ layers: [NeuralNetworkLayer]
  ) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    var description = ModelDescription()
    description.input = [
      FeatureDescription(
        name: "in", kind: .multiArray(ArrayFeatureType(shape: shape, dataType: .double)))
    ]
    description.output = outputs.map {
      FeatureDescription(
        name: $0, kind: .multiArray(ArrayFeatureType(shape: [], dataType: .double)))
    }
    var model = Model()
    model.description = description
    model.type = .neuralNetwork(network)
    return model
  }

  static func layer(
    _ name: String, _ parameters: some LayerParameters, _ input: String, _ output: String
  ) -> NeuralNetworkLayer {
    NeuralNetworkLayer(name, parameters, input: [input], output: [output])
  }

  static func convolution(
    _ inputs: Int, _ outputs: Int, kernel: [Int] = [3, 3], seed: UInt64 = 1, groups: Int = 1,
    change: (inout Convolution) -> Void = { _ in }
  ) -> Convolution {
    var random = SplitMix64(seed: seed)
    var layer = Convolution()
    layer.outputChannels = outputs
    layer.kernelChannels = inputs / groups
    layer.nGroups = groups
    layer.kernelSize = kernel
    layer.stride = [1, 1]
    layer.padding = .same(SamePadding())
    layer.hasBias = true
    layer.kernel = Weights(random.values(outputs * inputs / groups * kernel[0] * kernel[1]))
    layer.bias = Weights(random.values(outputs))
    change(&layer)
    return layer
  }

  static func batchnorm(_ channels: Int, seed: UInt64 = 2) -> Batchnorm {
    var random = SplitMix64(seed: seed)
    var layer = Batchnorm()
    layer.channels = channels
    layer.gamma = Weights(random.values(channels))
    layer.beta = Weights(random.values(channels))
    layer.mean = Weights(random.values(channels))
    layer.variance = Weights(random.values(channels).map { abs($0) + 0.1 })
    return layer
  }

  static func tensor(_ shape: [Int], seed: UInt64 = 7) -> Tensor {
    var random = SplitMix64(seed: seed)
    return Tensor(shape: shape, random.values(shape.reduce(1, *)))
  }

  static func predict(
    _ model: Model, _ input: Tensor, _ change: (inout CompileOptions) -> Void = { _ in }
  ) throws -> [String: Tensor] {
    var options = CompileOptions()
    options.threads = 2
    options.inputShapes["in"] = input.shape
    change(&options)
    return try CompiledNetwork(model: model, options: options).predict(["in": input])
  }
}

extension TestNetwork {
  /// A model of exact shapes, with the inputs `in0`, `in1` and so on.
  static func exactModel(
    _ shapes: [[Int]], _ layers: [NeuralNetworkLayer], outputs: [String] = ["out"]
  ) -> Model {
    var model = model([1], outputs: outputs, layers)
    model.description?.input = shapes.enumerated().map { index, shape in
      FeatureDescription(
        name: "in\(index)", kind: .multiArray(ArrayFeatureType(shape: shape, dataType: .double)))
    }
    model.specificationVersion = 5
    model.neuralNetwork?.arrayInputShapeMapping = .exact
    return model
  }
}
