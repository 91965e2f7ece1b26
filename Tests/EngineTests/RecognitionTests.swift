import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Functions and normalizations that layers of the first versions spell out, compared with the
/// double-precision reference of the same layers.
@Suite struct RecognitionTests {
  private typealias Net = TestNetwork

  /// Layers from `OUTPUT = LAYER NUMBERS INPUTS`, one per line.
  private func layers(_ text: String) -> [NeuralNetworkLayer] {
    text.split(separator: "\n").map { line in
      let words = line.split(separator: " ").map(String.init)
      let numbers = words[3...].compactMap { Float($0) }
      let inputs = words[3...].filter { Float($0) == nil }
      let (a, b) = (numbers.first ?? 0, numbers.last ?? 0)
      func unary(_ type: Unary.Operation) -> Unary {
        var layer = Unary()
        (layer.type, layer.alpha, layer.epsilon, layer.scale) = (type, a, a, 1)
        return layer
      }
      func mean(_ axis: Reduce.Axis) -> Reduce {
        var layer = Reduce()
        (layer.mode, layer.axis) = (.avg, axis)
        return layer
      }
      let parameters: any LayerParameters =
        switch words[2] {
        case "linear": Activation(.linear(alpha: a, beta: b))
        case "sigmoidHard": Activation(.sigmoidHard(alpha: a, beta: b))
        case "relu": Activation(.relu)
        case "tanh": Activation(.tanh)
        case "softplus": Activation(.softplus)
        case "abs": unary(.abs)
        case "exp": unary(.exp)
        case "power": unary(.power)
        case "rsqrt": unary(.rsqrt)
        case "mean": mean(.w)
        case "channelMean": mean(.c)
        case "add": Add()
        default: Multiply()
        }
      return NeuralNetworkLayer(words[0], parameters, input: inputs, output: [words[0]])
    }
  }

  private func expect(
    _ text: String, becomes kernels: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let model = Net.model([3, 5, 7], layers(text))
    var random = SplitMix64(seed: 11)
    let input = Tensor(shape: [1, 1, 3, 5, 7], random.values(105).map { $0 * 6 })
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
    var options = CompileOptions()
    options.inputShapes["in"] = input.shape
    let network = try CompiledNetwork(model: model, options: options)
    let steps = network.steps.filter {
      !["input", "output", "convert"].contains($0.layerType)
    }
    #expect(steps.map(\.kernel) == kernels, sourceLocation: sourceLocation)
    let actual = try #require(try network.predict(["in": input])["out"])
    let error = relativeError(actual.elements.map(Double.init), expected.elements)
    #expect(error < 1e-6, sourceLocation: sourceLocation)
  }

  /// x · Φ(x) by Abramowitz and Stegun, 7.1.26, and Keras's approximation by tanh.
  private static let gelus = [
    """
    abs = abs in
    d = linear 0.23164189 1 abs
    t = power -1 d
    p0 = linear 1.061405429 -1.453152027 t
    m1 = multiply p0 t
    p1 = linear 1 1.421413741 m1
    m2 = multiply p1 t
    p2 = linear 1 -0.284496736 m2
    m3 = multiply p2 t
    p3 = linear 1 0.254829592 m3
    square = multiply in in
    half = linear -0.5 0 square
    exp = exp half
    m4 = multiply p3 t
    weight = multiply abs exp
    tail = multiply m4 weight
    relu = relu in
    minus = linear -0.5 0 tail
    out = add relu minus
    """,
    """
    cube = power 3 in
    first = linear 0.797885 0 in
    third = linear 0.035677 0 cube
    sum = add first third
    tanh = tanh sum
    gate = linear 0.5 0.5 tanh
    out = multiply in gate
    """,
  ]

  @Test func functionsAreOneStep() throws {
    try expect(Self.gelus[0], becomes: ["gelu"])
    try expect(Self.gelus[1], becomes: ["tanhGelu"])
    try expect(
      "s = softplus in\nt = tanh s\nout = multiply in t", becomes: ["mish"])
  }

  /// A gate of another slope, GELU with another constant, and a value that something else reads.
  @Test func otherFunctionsStay() throws {
    try expect(
      "a = linear 1 0.5 in\ng = sigmoidHard 0.2 0.5 a\nout = multiply a g",
      becomes: ["linear", "hardSigmoid", "multiply"])
    try expect(
      Self.gelus[1].replacing("0.797885", with: "0.79"),
      becomes: ["power", "linear", "linear", "add", "tanh", "linear", "multiply"])
    try expect(
      "s = softplus in\nt = tanh s\nm = multiply in t\nout = add m s",
      becomes: ["softplus", "tanh", "multiply", "add"])
  }

  private static let normalization = """
    mean = mean in
    neg = linear -1 0 mean
    centered = add in neg
    square = multiply centered centered
    variance = mean square
    root = rsqrt 0.001 variance
    out = multiply centered root
    """

  @Test func layerNormalizationIsOneStep() throws {
    try expect(Self.normalization, becomes: ["layer normalization"])
    try expect(
      Self.normalization.replacing("out =", with: "n =") + "\nout = linear 3 -2 n",
      becomes: ["layer normalization"])
    let channels = Self.normalization.replacing("mean = mean", with: "mean = channelMean")
      .replacing("variance = mean", with: "variance = channelMean")
    try expect(channels, becomes: ["layer normalization"])
    try expect(
      channels.replacing("out =", with: "n =") + "\nout = linear 3 -2 n",
      becomes: ["layer normalization"])
    try expect(
      Self.normalization.replacing("mean = mean", with: "mean = channelMean"),
      becomes: ["reduce avg", "linear", "add", "multiply", "reduce avg", "rsqrt", "multiply"])
  }

  /// The mean of another value, and centered values that something else reads.
  @Test func otherNormalizationsStay() throws {
    try expect(
      Self.normalization.replacing("mean = mean in", with: "other = relu in\nmean = mean other"),
      becomes: [
        "relu", "reduce avg", "linear", "add", "multiply", "reduce avg", "rsqrt", "multiply",
      ])
    try expect(
      Self.normalization.replacing("out =", with: "n =") + "\nout = add n centered",
      becomes: [
        "reduce avg", "linear", "add", "multiply", "reduce avg", "rsqrt", "multiply", "add",
      ])
  }
}
