import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// The parameters of a distribution to test.
protocol TestedParameters: RandomParameters {
  static var trial: Self { get }
}

extension NormalParameters: TestedParameters {
  static var trial: Self {
    var parameters = Self()
    (parameters.mean, parameters.stdDev) = (0.5, 2)
    return parameters
  }
}

extension UniformParameters: TestedParameters {
  static var trial: Self {
    var parameters = Self()
    (parameters.minVal, parameters.maxVal) = (-1, 3)
    return parameters
  }
}

extension BernoulliParameters: TestedParameters {
  static var trial: Self {
    var parameters = Self()
    parameters.prob = 0.3
    return parameters
  }
}

extension RandomLike: TestedLayer where Parameters: TestedParameters {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[7], [2, 3, 5], [1, 2, 3, 4, 5], [3, 5000]].map { shape in
      var layer = Self()
      (layer.seed, layer.parameters) = (shape.count == 3 ? 5 : -1, .trial)
      return LayerTrial("\(shape)", layer, [shape])
    }
  }
}

/// Networks still have an input, which the layer does not read.
extension RandomStatic: TestedLayer where Parameters: TestedParameters {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[7], [2, 3, 5], [3, 5000]].map { shape in
      var layer = Self()
      (layer.seed, layer.parameters) = (shape.count == 3 ? -1 : 0, .trial)
      layer.outputShape = shape
      return LayerTrial("\(shape)", layer, [])
    }
  }
}

extension RandomDynamic: TestedLayer where Parameters: TestedParameters {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[7], [2, 3, 5]].map { shape in
      var layer = Self()
      layer.parameters = .trial
      return LayerTrial(
        "\(shape)", layer, [[shape.count]], values: [0: shape.map { Float($0) }])
    }
  }
}

extension CategoricalDistribution: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [([5], 3), ([2, 7], 100), ([2, 1, 3, 11], 9)].enumerated().map { index, item in
      let (shape, count) = item
      var layer = CategoricalDistribution()
      (layer.numSamples, layer.seed, layer.isLogits) = (count, index - 1, index != 1)
      layer.temperature = index == 2 ? 0.5 : 0
      return LayerTrial(
        "\(shape)", layer, [shape],
        values: [0: random.values(shape.reduce(1, *), in: index == 1 ? 0...1 : -2...2)])
    }
  }
}

/// The moments of the distributions, and published outputs of the generator.
@Suite struct RandomTests {
  private static let count = 200_000

  private func draw<Parameters>(_ layer: RandomStatic<Parameters>, seed: UInt64 = 0) throws
    -> [Double]
  {
    var layer = layer
    layer.outputShape = [Self.count]
    let model = TestNetwork.exactModel(
      [], [NeuralNetworkLayer("random", layer, input: [], output: ["out"])])
    var options = CompileOptions()
    options.seed = seed
    let result = try CompiledNetwork(model: model, options: options).predict([:])
    return try #require(result["out"]).elements.map(Double.init)
  }

  /// The mean, followed by the central moments from the second on.
  private func moments(_ values: [Double]) -> [Double] {
    let mean = values.reduce(0, +) / Double(values.count)
    return [mean]
      + (2...4).map { order in
        values.reduce(0) { sum, value in
          sum + (0..<order).reduce(1) { product, _ in product * (value - mean) }
        } / Double(values.count)
      }
  }

  private func expect(_ values: [Double], _ expected: [Double]) {
    for (actual, value) in zip(moments(values), expected) {
      #expect(abs(actual - value) < 0.02 * max(1, abs(value)), "\(actual), not \(value)")
    }
  }

  /// μ, σ², 0, 3σ⁴
  @Test func normal() throws {
    var layer = RandomNormalStatic()
    (layer.parameters.mean, layer.parameters.stdDev) = (1.5, 0.5)
    expect(try draw(layer), [1.5, 0.25, 0, 3 * 0.0625])
  }

  /// (a + b) / 2, (b − a)² / 12, 0, (b − a)⁴ / 80
  @Test func uniform() throws {
    var layer = RandomUniformStatic()
    (layer.parameters.minVal, layer.parameters.maxVal) = (-1, 2)
    let values = try draw(layer)
    expect(values, [0.5, 0.75, 0, 81.0 / 80])
    #expect(values.allSatisfy { $0 >= -1 && $0 <= 2 })
  }

  /// p, p (1 − p), p (1 − p) (1 − 2p), p (1 − p) (1 − 3p (1 − p))
  @Test func bernoulli() throws {
    var layer = RandomBernoulliStatic()
    layer.parameters.prob = 0.25
    let values = try draw(layer)
    let spread = 0.25 * 0.75
    expect(values, [0.25, spread, spread * 0.5, spread * (1 - 3 * spread)])
    #expect(Set(values) == [0, 1])
  }

  /// The frequency of each class follows the softmax of logits 0, ln 2, ln 5: 1/8, 2/8, 5/8.
  @Test func categorical() throws {
    var layer = CategoricalDistribution()
    (layer.numSamples, layer.isLogits) = (80_000, true)
    let model = TestNetwork.exactModel([[3]], [TestNetwork.layer("draw", layer, "in0", "out")])
    let logits = Tensor(shape: [3], [0, 0.693_147_2, 1.609_438])
    let drawn = try #require(try CompiledNetwork(model: model).predict(["in0": logits])["out"])
    for (type, expected) in [(0, 10_000), (1, 20_000), (2, 50_000)] {
      let count = drawn.elements.count { $0 == Float(type) }
      #expect(abs(count - expected) < 600, "class \(type): \(count)")
    }
  }

  @Test func seedsDecide() throws {
    var layer = RandomUniformStatic()
    layer.parameters.maxVal = 1
    let first = try draw(layer)
    #expect(try draw(layer) == first)
    #expect(try draw(layer, seed: 1) != first)
    layer.seed = 1
    #expect(try draw(layer) != first)
  }

  /// Quantiles from SciPy 1.17 (scipy.stats.norm.ppf).
  @Test func quantiles() {
    let expected = [
      (1e-300, -37.0470962993612), (1e-12, -7.034483825301131), (1e-5, -4.264890793922825),
      (0.01, -2.3263478740408408), (0.1, -1.2815515655446004), (0.3, -0.5244005127080409),
      (0.5, 0), (0.7, 0.5244005127080407), (0.97, 1.8807936081512509),
      (0.99999, 4.264890793923841),
    ]
    for (probability, quantile) in expected {
      let value = NormalQuantile.value(probability)
      #expect(abs(value - quantile) <= 1e-15 * max(1, abs(quantile)) * 8)
    }
  }

  /// The outputs of SplitMix64 for the seed 1234567, as in Vigna's reference implementation.
  @Test func generator() {
    let published: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
    ]
    let numbers = RandomNumbers(key: 1_234_567)
    for (index, value) in published.enumerated() {
      #expect(numbers.unit(index) == (Double(value >> 12) + 0.5) * 0x1p-52)
    }
  }
}
