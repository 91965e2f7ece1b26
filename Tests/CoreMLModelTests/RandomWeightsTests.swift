import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

@Suite struct RandomWeightsTests {
  @Test func seedAndNameDecide() throws {
    let random = RandomWeights(seed: 3)
    let a = try random.values("a/kernel", shape: [4, 5], fanIn: 4).array()
    #expect(try random.values("a/kernel", shape: [4, 5], fanIn: 4).array() == a)
    #expect(try random.values("b/kernel", shape: [4, 5], fanIn: 4).array() != a)
    #expect(try RandomWeights(seed: 4).values("a/kernel", shape: [4, 5], fanIn: 4).array() != a)
  }

  /// Uniform in ±√(6 / fan-in), with variance 2 / fan-in.
  @Test func kernelsHaveTheVarianceOfHe() throws {
    let values = try RandomWeights(seed: 1).values("k/weights", shape: [100_000], fanIn: 50).array()
    let bound = (6.0 / 50).squareRoot()
    #expect(values.allSatisfy { abs(Double($0)) <= bound + 1e-6 })
    let mean = values.reduce(0) { $0 + Double($1) } / 100_000
    let variance = values.reduce(0) { $0 + Double($1 * $1) } / 100_000
    #expect(abs(mean) < 0.005 && abs(variance - 2.0 / 50) < 0.001)
  }

  @Test func scalesArePositiveAndShiftsSmall() throws {
    let random = RandomWeights(seed: 1)
    for name in ["n/gamma", "n/moving_variance", "s/scale"] {
      #expect(try random.values(name, shape: [999], fanIn: 1).array().allSatisfy { $0 >= 0.5 })
    }
    for name in ["n/beta", "c/bias", "n/moving_mean"] {
      #expect(try random.values(name, shape: [999], fanIn: 1).array().allSatisfy { abs($0) <= 0.1 })
    }
  }

  @Test func whatIsMissingIsFilledAndNothingElse() throws {
    var convolution = Convolution()
    convolution.outputChannels = 4
    convolution.kernelChannels = 3
    convolution.kernelSize = [2, 5]
    convolution.hasBias = true
    convolution.bias = Weights([1, 2, 3, 4])
    var product = InnerProduct()
    product.inputChannels = 6
    product.outputChannels = 7
    product.matrix = Weights()
    var norm = Batchnorm()
    norm.channels = 4
    var network = NeuralNetwork()
    network.layers = [
      NeuralNetworkLayer("c", convolution, input: ["x"], output: ["a"]),
      NeuralNetworkLayer("n", norm, input: ["a"], output: ["b"]),
      NeuralNetworkLayer("p", product, input: ["b"], output: ["y"]),
    ]
    let filled = try network.fillMissingWeights(RandomWeights(seed: 0))
    #expect(filled == 6)
    let filledConvolution = try #require(network.layers[0].parameters as? Convolution)
    #expect(filledConvolution.kernel?.storedCount == 4 * 3 * 2 * 5)
    #expect(filledConvolution.bias == Weights([1, 2, 3, 4]))
    for layer in network.layers {
      for weights in layer.parameters?.weights ?? [] { try weights.requireValues() }
    }
    let filledProduct = try #require(network.layers[2].parameters as? InnerProduct)
    #expect(filledProduct.bias == nil)
    #expect(try network.fillMissingWeights(RandomWeights(seed: 0)) == 0)
  }

  @Test func impossibleSizesAreErrors() {
    var product = InnerProduct()
    product.inputChannels = Int(Int32.max)
    product.outputChannels = Int(Int32.max)
    var network = NeuralNetwork()
    network.layers = [NeuralNetworkLayer("p", product, input: ["x"], output: ["y"])]
    #expect(throws: ModelError.self) { try network.fillMissingWeights(RandomWeights(seed: 0)) }
  }
}
