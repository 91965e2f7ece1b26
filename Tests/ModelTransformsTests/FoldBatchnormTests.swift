import CoreMLModel
import TensorCore
import Testing

@testable import ModelTransforms

struct FoldBatchnormTests {
  private func convolution(
    inputs: Int, outputs: Int, groups: Int = 1, isDeconvolution: Bool = false, padding: Int = 0
  ) -> Convolution {
    var generator = SplitMix64(seed: 3)
    var layer = Convolution()
    layer.outputChannels = outputs
    layer.kernelChannels = isDeconvolution ? inputs : inputs / groups
    layer.nGroups = groups
    layer.kernelSize = [1, 2]
    layer.isDeconvolution = isDeconvolution
    var valid = ValidPadding()
    valid.paddingAmounts = BorderAmounts(
      top: padding, bottom: padding, left: padding, right: padding)
    layer.padding = .valid(valid)
    layer.kernel = Weights(
      (0..<inputs / groups * outputs * 2).map { _ in Float.random(in: -1...1, using: &generator) })
    return layer
  }

  private func batchnorm(_ channels: Int) -> Batchnorm {
    var layer = Batchnorm()
    layer.channels = channels
    layer.epsilon = 1
    // Factors 1, 1 and 2, … : gamma / √(3 + 1) = 1, 2, 3, …
    layer.gamma = Weights((0..<channels).map { 2 * Float($0 + 1) })
    layer.beta = Weights((0..<channels).map { Float($0) })
    layer.mean = Weights([Float](repeating: 0.5, count: channels))
    layer.variance = Weights([Float](repeating: 3, count: channels))
    return layer
  }

  private func model(_ layers: [NeuralNetworkLayer], output: String) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    var model = Model()
    var feature = FeatureDescription()
    feature.name = output
    model.description?.output = [feature]
    model.type = .neuralNetwork(network)
    return model
  }

  @Test(arguments: [(1, false), (2, false), (1, true), (2, true)])
  func intoTheLayerBefore(_ groups: Int, _ isDeconvolution: Bool) throws {
    let before = convolution(
      inputs: 4, outputs: 6, groups: groups, isDeconvolution: isDeconvolution)
    let original = model(
      [
        NeuralNetworkLayer("c", before, input: ["x"], output: ["y"]),
        NeuralNetworkLayer("n", batchnorm(6), input: ["y"], output: ["z"]),
      ], output: "z")
    let (folded, folds) = try original.withFoldedBatchnorm()
    #expect(folds.map(\.layer) == ["n"])
    #expect(folds[0].neighbor == "c" && folds[0].isDone && folds[0].error < 1e-6)
    let layers = try #require(folded.neuralNetwork?.layers)
    #expect(layers.map(\.name) == ["c"])
    #expect(layers[0].output == ["z"])
    let after = try #require(layers[0].parameters as? Convolution)
    let old = try before.kernel?.floatValue.array() ?? []
    let new = try after.kernel?.floatValue.array() ?? []
    let shape = before.kernelShape
    for index in old.indices {
      // [O, I/g, h, w]; for a deconvolution [I, O/g, h, w], with the inputs of a group contiguous.
      let outer = index / (shape[1] * 2)
      let inner = index / 2 % shape[1]
      let output = isDeconvolution ? outer / (4 / groups) * shape[1] + inner : outer
      let wanted: Float = old[index] * Float(output + 1)
      #expect(abs(new[index] - wanted) < 1e-5)
    }
    // β − μ a
    #expect(after.hasBias)
    let bias: [Float] = [-0.5, 0, 0.5, 1, 1.5, 2]
    #expect(try after.bias?.floatValue.array() == bias)
  }

  @Test func intoTheConvolutionBehind() throws {
    let kernel = convolution(inputs: 2, outputs: 1)
    let layers = [
      NeuralNetworkLayer("n", batchnorm(2), input: ["x"], output: ["y"]),
      NeuralNetworkLayer("c", kernel, input: ["y"], output: ["z"]),
    ]
    let (changed, folds) = try model(layers, output: "z").withFoldedBatchnorm()
    #expect(folds.count == 1)
    let result = try #require(changed.neuralNetwork?.layers)
    #expect(result.count == 1 && result[0].input == ["x"])
    let after = try #require(result[0].parameters as? Convolution)
    let w = try kernel.kernel?.floatValue.array() ?? []
    let folded: [Float] = [w[0], w[1], 2 * w[2], 2 * w[3]]
    #expect(try after.kernel?.floatValue.array() == folded)
    // Offsets 0 − 0.5 and 1 − 1.
    let bias = try #require(try after.bias?.floatValue.array())
    let wanted: Float = -0.5 * (w[0] + w[1])
    #expect(abs(bias[0] - wanted) < 1e-6)
    // Zero padding lacks the offset.
    let padded = [
      layers[0],
      NeuralNetworkLayer(
        "c", convolution(inputs: 2, outputs: 1, padding: 1), input: ["y"], output: ["z"]),
    ]
    #expect(try model(padded, output: "z").withFoldedBatchnorm().folds.isEmpty)
  }

  @Test func scaleAndBiasInARow() throws {
    var dense = InnerProduct()
    dense.inputChannels = 1
    dense.outputChannels = 2
    dense.matrix = Weights([1, 2])
    var scale = Scale()
    scale.shapeScale = [2, 1, 1]
    scale.scale = Weights([3, 5])
    var bias = Bias()
    bias.shape = [1]
    bias.bias = Weights([7])
    let (folded, folds) = try model(
      [
        NeuralNetworkLayer("d", dense, input: ["x"], output: ["a"]),
        NeuralNetworkLayer("s", scale, input: ["a"], output: ["b"]),
        NeuralNetworkLayer("b", bias, input: ["b"], output: ["c"]),
      ], output: "c"
    ).withFoldedBatchnorm()
    #expect(folds.map(\.layer) == ["s", "b"])
    let after = try #require(folded.neuralNetwork?.layers.first?.parameters as? InnerProduct)
    #expect(try after.matrix?.floatValue.array() == [3, 10])
    #expect(try after.bias?.floatValue.array() == [7, 7])
  }

  /// The channels that share a table have the same range; a scale after the layer restores the
  /// original ranges.
  @Test func scalesStayBehind() throws {
    let kernel = convolution(inputs: 2, outputs: 2)
    let (folded, folds) = try model(
      [
        NeuralNetworkLayer("c", kernel, input: ["x"], output: ["y"]),
        NeuralNetworkLayer("n", batchnorm(2), input: ["y"], output: ["z"]),
      ], output: "z"
    ).withFoldedBatchnorm(keepsScales: true)
    #expect(folds.map(\.layer) == ["n"])
    let layers = try #require(folded.neuralNetwork?.layers)
    #expect(layers.map(\.name) == ["c", "n"])
    #expect(layers[0].output == ["y"] && layers[1].input == ["y"] && layers[1].output == ["z"])
    let after = try #require(layers[0].parameters as? Convolution)
    let scale = try #require(layers[1].parameters as? Scale)
    let new = try after.kernel?.floatValue.array() ?? []
    let old = try kernel.kernel?.floatValue.array() ?? []
    let factors = try scale.scale?.floatValue.array() ?? []
    for channel in 0..<2 {
      let own = new[channel * 4..<channel * 4 + 4]
      let squares: Float = own.reduce(0) { $0 + $1 * $1 }
      #expect(abs(squares - 4) < 1e-4)
      for (a, b) in zip(own, old[channel * 4..<channel * 4 + 4]) {
        let difference: Float = a * factors[channel] - b * Float(channel + 1)
        #expect(abs(difference) < 1e-5)
      }
    }
    #expect(after.hasBias && !scale.hasBias)
    for (found, expected) in try zip(zip(after.bias?.floatValue.array() ?? [], factors), [-0.5, 0])
    {
      #expect(abs(found.0 * found.1 - Float(expected)) < 1e-6)
    }
  }

  /// A blob that is an output or has other readers is not changed.
  @Test func staysWhereSomebodyElseLooks() throws {
    let layers = [
      NeuralNetworkLayer(
        "c", convolution(inputs: 2, outputs: 2), input: ["x"], output: ["y"]),
      NeuralNetworkLayer("n", batchnorm(2), input: ["y"], output: ["z"]),
    ]
    #expect(try model(layers, output: "y").withFoldedBatchnorm().folds.isEmpty)
    let another = NeuralNetworkLayer(
      "m", batchnorm(2), input: ["y"], output: ["w"])
    #expect(try model(layers + [another], output: "z").withFoldedBatchnorm().folds.isEmpty)
  }

  /// A factor that a float cannot represent would change the results.
  @Test func refusesWhatRoundingBreaks() throws {
    var normalization = batchnorm(2)
    normalization.gamma = Weights([1e30, 1])
    normalization.mean = Weights([3e37, 0])
    var kernel = convolution(inputs: 2, outputs: 2)
    kernel.kernel = Weights((0..<8).map { _ in 1e30 })
    let (folded, folds) = try model(
      [
        NeuralNetworkLayer("c", kernel, input: ["x"], output: ["y"]),
        NeuralNetworkLayer("n", normalization, input: ["y"], output: ["z"]),
      ], output: "z"
    ).withFoldedBatchnorm()
    #expect(folds.map(\.isDone) == [false])
    #expect(folded.neuralNetwork?.layers.count == 2)
  }
}
