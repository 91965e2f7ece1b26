import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Every pass, by the steps that are left and by the result, which is compared with that of a network
/// whose blobs are all kept and which so has none of them fused away.
@Suite struct PassTests {
  private func kernels(_ model: Model, _ shape: [Int]) throws -> [String] {
    var options = CompileOptions()
    options.convolution = .direct
    options.inputShapes["in"] = shape
    return try CompiledNetwork(model: model, options: options).steps
      .filter { $0.layerType != "input" && $0.layerType != "output" && $0.layerType != "convert" }
      .map(\.kernel)
  }

  private func expectFused(
    _ layers: [NeuralNetworkLayer], channels: Int, to expected: [String],
    size: Int = 9, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let model = TestNetwork.model([channels, size, size], layers)
    let input = TestNetwork.tensor([1, 1, channels, size, size])
    #expect(try kernels(model, input.shape) == expected, sourceLocation: sourceLocation)
    let fused = try TestNetwork.predict(model, input) { $0.convolution = .direct }["out"]
    let plain = try TestNetwork.predict(model, input) {
      $0.convolution = .direct
      $0.keep = .all
    }["out"]
    #expect(relativeError(fused, plain) < 2e-6, sourceLocation: sourceLocation)
  }

  private typealias Net = TestNetwork

  @Test func batchnormAndActivationBecomePartOfTheConvolution() throws {
    try expectFused(
      [
        Net.layer("c", Net.convolution(5, 19), "in", "a"),
        Net.layer("n", Net.batchnorm(19), "a", "b"),
        Net.layer("r", Activation(.leakyReLU(alpha: 0.1)), "b", "out"),
      ], channels: 5, to: ["direct 3×3 + leaky"])
  }

  @Test func scaleBiasAndLinearBecomePartOfTheConvolution() throws {
    var scale = Scale()
    scale.shapeScale = [19]
    scale.scale = Weights((0..<19).map { Float($0) / 8 - 1 })
    scale.hasBias = true
    scale.shapeBias = [1]
    scale.bias = Weights([0.25])
    var bias = Bias()
    bias.shape = [19, 1, 1]
    bias.bias = Weights((0..<19).map { Float($0) / 4 })
    try expectFused(
      [
        Net.layer("c", Net.convolution(20, 19), "in", "a"), Net.layer("s", scale, "a", "b"),
        Net.layer("o", bias, "b", "c"),
        Net.layer("l", Activation(.linear(alpha: -2, beta: 3)), "c", "out"),
      ], channels: 20, to: ["direct 3×3"])
  }

  @Test func depthwiseAndTransposedConvolutionsTakeThemToo() throws {
    try expectFused(
      [
        Net.layer("c", Net.convolution(20, 20, groups: 20), "in", "a"),
        Net.layer("n", Net.batchnorm(20), "a", "b"),
        Net.layer("r", Activation(.relu), "b", "out"),
      ], channels: 20, to: ["depthwise 3×3 + relu"])
    let transposed = Net.convolution(20, 18) {
      $0.isDeconvolution = true
      $0.stride = [2, 2]
    }
    var deconvolution = transposed
    deconvolution.kernelChannels = 20
    try expectFused(
      [
        Net.layer("c", deconvolution, "in", "a"), Net.layer("n", Net.batchnorm(18), "a", "b"),
        Net.layer("r", Activation(.relu), "b", "out"),
      ], channels: 20, to: ["direct transposed 3×3 + relu"])
  }

  @Test func whatSomebodyElseReadsStays() throws {
    var add = Add()
    add.alpha = 0
    let layers = [
      Net.layer("c", Net.convolution(4, 16), "in", "a"),
      Net.layer("r", Activation(.relu), "a", "b"),
      NeuralNetworkLayer("s", add, input: ["a", "b"], output: ["out"]),
    ]
    try expectFused(layers, channels: 4, to: ["direct 3×3", "relu", "add"])
  }

  @Test func aKeptBlobIsNotFusedAway() throws {
    let model = Net.model(
      [4, 6, 6],
      [
        Net.layer("c", Net.convolution(4, 16), "in", "a"),
        Net.layer("r", Activation(.relu), "a", "out"),
      ])
    let results = try Net.predict(model, Net.tensor([1, 1, 4, 6, 6])) { $0.keep = .named(["a"]) }
    let before = try #require(results["a"]?.elements)
    #expect(before.contains { $0 < 0 })
    #expect(results["out"]?.elements == before.map { max($0, 0) })
  }

  @Test func aResidualIsAddedByTheLaterConvolution() throws {
    let layers = [
      Net.layer("c1", Net.convolution(16, 16), "in", "a"),
      Net.layer("r1", Activation(.relu), "a", "b"),
      Net.layer("c2", Net.convolution(16, 16, seed: 3), "b", "c"),
      NeuralNetworkLayer("s", Add(), input: ["b", "c"], output: ["d"]),
      Net.layer("r2", Activation(.relu), "d", "out"),
    ]
    try expectFused(
      layers, channels: 16, to: ["direct 3×3 + relu", "direct 3×3 + residual + relu"])
  }

  @Test func aBorderOfZerosBecomesPadding() throws {
    var border = Padding()
    border.kind = .constant(value: 0)
    border.paddingAmounts = BorderAmounts(top: 1, bottom: 2, left: 3, right: 0)
    let convolution = Net.convolution(4, 16) { $0.padding = .valid(ValidPadding()) }
    try expectFused(
      [Net.layer("p", border, "in", "a"), Net.layer("c", convolution, "a", "out")], channels: 4,
      to: ["direct 3×3"])
    border.kind = .constant(value: 0.5)
    try expectFused(
      [Net.layer("p", border, "in", "a"), Net.layer("c", convolution, "a", "out")], channels: 4,
      to: ["padding", "direct 3×3"])
  }

  @Test func aBoundedRectifierInFourLayersIsOneClip() throws {
    var threshold = Unary()
    threshold.type = .threshold
    threshold.alpha = -6
    try expectFused(
      [
        Net.layer(
          "c", Net.convolution(4, 16) { $0.bias = Weights((0..<16).map { Float($0) }) }, "in", "a"),
        Net.layer("r", Activation(.relu), "a", "b"),
        Net.layer("n", Activation(.linear(alpha: -1, beta: 0)), "b", "c"),
        Net.layer("t", threshold, "c", "d"),
        Net.layer("m", Activation(.linear(alpha: -1, beta: 0)), "d", "out"),
      ], channels: 4, to: ["direct 3×3 + clip"])
  }

  @Test func identitiesAndUnreadLayersVanish() throws {
    var once = Upsample()
    once.scalingFactor = [1, 1]
    try expectFused(
      [
        Net.layer("l", Activation(.linear(alpha: 1, beta: 0)), "in", "a"),
        Net.layer("unread", Net.convolution(4, 3), "a", "b"),
        Net.layer("r", Activation(.tanh), "a", "out"),
      ], channels: 4, to: ["tanh"])
  }

  @Test func constantsAreComputedOnce() throws {
    var constant = LoadConstant()
    constant.shape = [1, 3, 3]
    constant.data = Weights((0..<9).map { Float($0) })
    var power = Unary()
    power.type = .power
    power.alpha = 2
    let layers = [
      NeuralNetworkLayer("k", constant, input: [], output: ["k"]),
      Net.layer("p", power, "k", "kk"),
      NeuralNetworkLayer("m", Multiply(), input: ["in", "kk"], output: ["out"]),
    ]
    let model = Net.model([2, 3, 3], layers)
    let input = Net.tensor([1, 1, 2, 3, 3])
    #expect(try kernels(model, input.shape) == ["multiply"])
    let result = try Net.predict(model, input)["out"]?.elements
    let squares = (0..<18).map { Float($0 % 9 * ($0 % 9)) }
    #expect(result == zip(input.elements, squares).map { $0 * $1 })
  }

  @Test func denseLayersTakeNormalisationAndActivation() throws {
    var dense = InnerProduct()
    dense.inputChannels = 16
    dense.outputChannels = 5
    dense.matrix = Weights(Net.tensor([80]).elements)
    try expectFused(
      [
        Net.layer("d", dense, "in", "a"), Net.layer("n", Net.batchnorm(5), "a", "b"),
        Net.layer("r", Activation(.relu), "b", "out"),
      ], channels: 1, to: ["row dot products"], size: 4)
  }
}
