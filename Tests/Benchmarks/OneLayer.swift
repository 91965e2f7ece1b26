import CoreMLModel
import Engine
import Kernels
import TensorCore

/// A network with a single layer, whose time is measured.
struct OneLayer {
  var title: String
  /// The input shape `[C, H, W]`.
  var input: [Int]
  var parameters: any LayerParameters
  var algorithm = ConvolutionAlgorithm.automatic

  static func convolution(
    _ title: String, _ input: [Int], outputs: Int, kernel: Int, stride: Int = 1,
    isDepthwise: Bool = false, _ algorithm: ConvolutionAlgorithm = .direct
  ) -> OneLayer {
    var layer = Convolution()
    layer.outputChannels = outputs
    layer.kernelChannels = isDepthwise ? 1 : input[0]
    layer.nGroups = isDepthwise ? input[0] : 1
    layer.kernelSize = [kernel, kernel]
    layer.stride = [stride, stride]
    layer.padding = .same(SamePadding())
    layer.hasBias = true
    return OneLayer(title: title, input: input, parameters: layer, algorithm: algorithm)
  }

  static func dense(_ title: String, inputs: Int, outputs: Int) -> OneLayer {
    var layer = InnerProduct()
    layer.inputChannels = inputs
    layer.outputChannels = outputs
    layer.hasBias = true
    return OneLayer(title: title, input: [inputs, 1, 1], parameters: layer)
  }

  struct Measurement {
    var seconds: Double
    var multiplyAdds: Int
    var weightBytes: Int
    var kernel: String
  }

  private func model() throws -> Model {
    var layer = NeuralNetworkLayer()
    layer.name = "layer"
    layer.input = ["in"]
    layer.output = ["out"]
    layer.parameters = parameters
    var network = NeuralNetwork()
    network.layers = [layer]
    _ = try network.fillMissingWeights(RandomWeights(seed: 1))
    var model = Model()
    model.type = .neuralNetwork(network)
    var description = ModelDescription()
    description.input = [
      FeatureDescription(
        name: "in", kind: .multiArray(ArrayFeatureType(shape: input, dataType: .float32)))
    ]
    description.output = [
      FeatureDescription(
        name: "out", kind: .multiArray(ArrayFeatureType(shape: [], dataType: .float32)))
    ]
    model.description = description
    return model
  }

  /// The layer's shortest time in as many runs as fit into `seconds`, but at least five.
  func measure(_ set: InstructionSet, threads: Int, seconds: Double) throws -> Measurement {
    let log = StepTimes()
    var options = CompileOptions()
    options.instructionSet = set
    options.threads = threads
    options.convolution = algorithm
    options.hooks.onStep = { log.record($0) }
    let network = try CompiledNetwork(model: model(), options: options)
    let elements = input.reduce(1, *)
    let values = (0..<elements).map { Float($0 % 97) / 48 - 1 }
    let tensor = Tensor(shape: [1, 1] + input, values)
    let clock = ContinuousClock()
    let begin = clock.now
    var runs = 0
    while runs < 5 || (clock.now - begin) / .seconds(1) < seconds {
      _ = try network.predict(["in": tensor])
      runs += 1
    }
    var found = log.shortest("layer")
    if let dense = parameters as? InnerProduct {
      // These weights are read in place.
      found.weightBytes = 4 * dense.inputChannels * dense.outputChannels
    }
    return found
  }
}
