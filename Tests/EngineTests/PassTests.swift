import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Every pass, checked by the remaining steps and by the result, compared with a network that keeps
/// all blobs, so that none is fused away.
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

  @Test func theNormalizationAndRectifierBeforeAConvolutionAreOneStep() throws {
    try expectFused(
      [
        Net.layer("n", Net.batchnorm(19), "in", "a"), Net.layer("r", Activation(.relu), "a", "b"),
        Net.layer("c", Net.convolution(19, 5), "b", "out"),
      ], channels: 19, to: ["linear + relu", "direct 3×3"])
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

  // MARK: Skipping passes

  /// A network in which every pass changes something, on planes of 24 × 24.
  private static func everyPass() -> Model {
    var border = Padding()
    border.kind = .constant(value: 0)
    border.paddingAmounts = BorderAmounts(top: 1, bottom: 1, left: 1, right: 1)
    var constant = LoadConstant()
    constant.shape = [1, 1, 1]
    constant.data = Weights([0.5])
    var power = Unary()
    power.type = .power
    power.alpha = 2
    var threshold = Unary()
    threshold.type = .threshold
    threshold.alpha = -6
    var mean = Reduce()
    (mean.mode, mean.axis) = (.avg, .w)
    var root = Unary()
    (root.type, root.epsilon) = (.rsqrt, 0.1)
    var twice = Upsample()
    twice.scalingFactor = [2, 2]
    var pooling = Pooling()
    pooling.type = .max
    pooling.kernelSize = [2, 2]
    pooling.stride = [2, 2]
    pooling.padding = .valid(ValidPadding())
    var crop = Crop()
    crop.cropAmounts = BorderAmounts(top: 1, bottom: 1, left: 1, right: 1)
    // Weights that preserve the magnitude of values, so that rounding errors do not grow.
    func convolution(
      _ inputs: Int, _ outputs: Int, kernel: [Int] = [3, 3], groups: Int = 1, isPadded: Bool = true
    ) -> Convolution {
      Net.convolution(inputs, outputs, kernel: kernel, groups: groups) { layer in
        let terms = Float(inputs / groups * kernel[0] * kernel[1])
        let values = (try? layer.kernel?.floatValue.array()) ?? []
        layer.kernel = Weights(values.map { $0 * (3 / terms).squareRoot() })
        if !isPadded { layer.padding = .valid(ValidPadding()) }
      }
    }
    func both(_ name: String, _ parameters: some LayerParameters, _ inputs: [String], _ out: String)
      -> NeuralNetworkLayer
    {
      NeuralNetworkLayer(name, parameters, input: inputs, output: [out])
    }
    var points = convolution(16, 64, kernel: [1, 1])
    points.stride = [2, 2]
    var transposed = BatchedMatMul()
    transposed.transposeB = true
    var softmax = SoftmaxND()
    softmax.axis = -1
    var model = Net.model(
      [4, 24, 24],
      [
        Net.layer("identity", Activation(.linear(alpha: 1, beta: 0)), "in", "a0"),
        Net.layer("unread", convolution(4, 3), "a0", "nobody"),
        both("half", constant, [], "k"), Net.layer("square", power, "k", "kk"),
        both("scaled", Multiply(), ["a0", "kk"], "a1"),
        Net.layer("border", border, "a1", "a2"),
        Net.layer("c1", convolution(4, 16, isPadded: false), "a2", "a3"),
        Net.layer("norm", Net.batchnorm(16), "a3", "a4"),
        Net.layer("sigmoid", Activation(.sigmoid), "a4", "gate"),
        both("swish", Multiply(), ["a4", "gate"], "a5"),
        Net.layer("crop", crop, "a5", "cut"),
        Net.layer("c2", convolution(16, 16, isPadded: false), "a5", "a6"),
        both("sum", Add(), ["a6", "cut"], "a7"),
        Net.layer("relu", Activation(.relu), "a7", "a8"),
        Net.layer("c3", convolution(16, 16), "a8", "a9"),
        Net.layer("pool", pooling, "a9", "a10"),
        Net.layer("depthwise", convolution(16, 16, groups: 16), "a10", "a11"),
        Net.layer("pointwise", convolution(16, 16, kernel: [1, 1]), "a11", "a12"),
        Net.layer("twice", twice, "a12", "a13"),
        Net.layer("c4", convolution(16, 16), "a13", "a14"),
        Net.layer("points", points, "a14", "b10"),
        Net.layer("twice again", twice, "b10", "b11"),
        Net.layer("large", convolution(64, 3, kernel: [9, 9]), "b11", "a15"),
        Net.layer("few", convolution(3, 2), "a15", "a16"),
        Net.layer("lower", Activation(.relu), "a16", "a17"),
        Net.layer("minus", Activation(.linear(alpha: -1, beta: 0)), "a17", "a18"),
        Net.layer("upper", threshold, "a18", "a19"),
        Net.layer("minus again", Activation(.linear(alpha: -1, beta: 0)), "a19", "a20"),
        Net.layer("softplus", Activation(.softplus), "a20", "b0"),
        Net.layer("bounded", Activation(.tanh), "b0", "b1"),
        both("mish", Multiply(), ["a20", "b1"], "b2"),
        Net.layer("mean", mean, "b2", "b3"),
        Net.layer("negative", Activation(.linear(alpha: -1, beta: 0)), "b3", "b4"),
        both("centered", Add(), ["b2", "b4"], "b5"),
        both("squares", Multiply(), ["b5", "b5"], "b6"),
        Net.layer("variance", mean, "b6", "b7"), Net.layer("root", root, "b7", "b8"),
        both("normalized", Multiply(), ["b5", "b8"], "b9"),
        Net.layer("tanh", Activation(.tanh), "b9", "a21"),
        Net.layer("keys", Activation(.linear(alpha: 0.5, beta: 0)), "a21", "a22"),
        both("scores", transposed, ["a21", "a22"], "a23"),
        Net.layer("softmax", softmax, "a23", "a24"),
        both("weighted", BatchedMatMul(), ["a24", "a21"], "out"),
      ])
    model.specificationVersion = 4
    return model
  }

  private func options(_ change: (inout CompileOptions) -> Void = { _ in }) -> CompileOptions {
    var options = CompileOptions()
    options.threads = 2
    options.inputShapes["in"] = [1, 1, 4, 24, 24]
    options.convolution = .winograd2
    change(&options)
    return options
  }

  @Test(arguments: Passes.names)
  func everyPassCanBeLeftOut(_ pass: String) throws {
    let model = Self.everyPass()
    let input = Net.tensor([1, 1, 4, 24, 24])
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
    let without = try CompiledNetwork(model: model, options: options { $0.withoutPasses = [pass] })
    let found = try #require(try without.predict(["in": input])["out"])
    let largest = expected.elements.reduce(0) { max($0, abs($1)) }
    for (a, b) in zip(found.elements, expected.elements) {
      #expect(abs(Double(a) - b) <= 5e-5 * largest, "without \(pass)")
    }
    // Each pass must change something, or else the network would prove nothing about it.
    let whole = try CompiledNetwork(model: model, options: options())
    #expect(without.steps != whole.steps, "\(pass) finds nothing")
  }

  @Test func passesShowTheGraphBehindThem() throws {
    let model = Self.everyPass()
    func names(after pass: String) throws -> [String] {
      try CompiledNetwork.steps(of: model, options: options(), after: pass).map(\.name)
    }
    let layers = try #require(model.neuralNetwork?.layers.map(\.name))
    let lowered = try names(after: Passes.lowering)
    #expect(lowered == layers.filter { $0 != "half" })
    #expect(try names(after: "identity-elimination") == lowered.filter { $0 != "identity" })
    let folded = try names(after: "constant-folding")
    #expect(folded == lowered.filter { !["identity", "square"].contains($0) })
    #expect(try names(after: "dead-code") == folded.filter { $0 != "unread" })
    let final = try CompiledNetwork(model: model, options: options()).steps
    let total = final.reduce(0) { $0 + $1.multiplyAdds }
    let counted = try CompiledNetwork.steps(of: model, options: options(), after: "dead-code")
    #expect(total == counted.reduce(0) { $0 + $1.multiplyAdds })
  }

  @Test func anUnknownPassIsAnsweredWithTheNames() throws {
    let model = Self.everyPass()
    for attempt in [
      { _ = try CompiledNetwork(model: model, options: options { $0.withoutPasses = ["fusion"] }) },
      { _ = try CompiledNetwork.steps(of: model, options: options(), after: "fusion") },
    ] {
      let error = #expect(throws: ModelError.self, performing: attempt)
      #expect(error?.code == .usage && error?.message.contains("'fusion'") == true)
      #expect(Passes.names.allSatisfy { error?.hint?.contains($0) == true })
    }
  }

  /// If a pass fails, the error has its name and the node's.
  @Test func anErrorNamesThePassAndTheNode() throws {
    enum Broken: Pass {
      static let name = "broken"
      static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
        graph.nodes.swapAt(0, 1)
        return true
      }
    }
    let context = PassContext(
      pool: ThreadPool(threadCount: 1), kernels: InstructionSet.baseline.kernels,
      convolution: .direct)
    var builder = try GraphBuilder(
      model: Net.model(
        [4, 6, 6],
        [
          Net.layer("c", Net.convolution(4, 16), "in", "a"),
          Net.layer("r", Activation(.relu), "a", "out"),
        ]), options: CompileOptions())
    var interface = GraphBuilder.Interface()
    try builder.addInputs(&interface)
    #expect(try builder.add(builder.layers, context).isEmpty)
    try builder.addResults(&interface)
    try builder.exposeResults(&interface)
    var graph = builder.graph
    let error = #expect(throws: ModelError.self) {
      try Passes.run(&graph, context, without: [], of: [Broken.self])
    }
    #expect(error?.layer == "r" && error?.message.contains("in the pass broken") == true)
  }
}
