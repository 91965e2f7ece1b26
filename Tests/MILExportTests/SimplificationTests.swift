import CoreMLModel
import LibC
import TensorCore
import Testing

@testable import MILExport

/// Sequences of operations that compose another operation become it; others do not. Expected values
/// are derived from the formulas in double precision.
@Suite struct SimplificationTests {
  private typealias Net = Networks
  private static let points: [Float] = [-20, -7, -3.5, -3, -1, -0.25, 0, 0.25, 1, 3, 3.5, 6, 7, 20]

  /// A network of layers on one array, in which each layer reads earlier results by name.
  private struct Chain {
    var layers: [NeuralNetworkLayer] = []

    mutating func add(
      _ name: String, _ parameters: any LayerParameters, _ input: String...
    ) {
      layers.append(NeuralNetworkLayer(name, parameters, input: input, output: [name]))
    }

    mutating func linear(_ name: String, _ alpha: Float, _ beta: Float, _ input: String) {
      add(name, Activation(.linear(alpha: alpha, beta: beta)), input)
    }

    mutating func unary(
      _ name: String, _ type: Unary.Operation, _ input: String, alpha: Float = 0, epsilon: Float = 0
    ) {
      var layer = Unary()
      (layer.type, layer.alpha, layer.epsilon) = (type, alpha, epsilon)
      add(name, layer, input)
    }

    mutating func mean(_ name: String, _ axes: [Int], _ input: String) {
      var layer = ReduceMean()
      (layer.axes, layer.keepDims) = (axes, true)
      add(name, layer, input)
    }

    mutating func constant(_ name: String, _ values: [Float], _ shape: [Int]) {
      var layer = LoadConstantND()
      (layer.data, layer.shape) = (Weights(values), shape)
      add(name, layer)
    }

    mutating func transpose(_ name: String, _ axes: [Int], _ input: String) {
      var layer = Transpose()
      layer.axes = axes
      add(name, layer, input)
    }

    func program(_ shape: [Int], outputs: [String] = ["y"]) throws -> Model {
      try Net.model(
        layers, inputs: [Net.array("x", shape)], outputs: outputs.map { Net.array($0, []) }
      ).mlProgram()
    }
  }

  /// The operations except constants.
  private static func operations(_ program: Model) -> [String] {
    Net.operations(program).filter { $0 != "const" }
  }

  private static func expect(
    _ program: Model, _ operations: [String], _ shape: [Int], _ values: [Float],
    _ expected: [Double], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(Self.operations(program) == operations, sourceLocation: sourceLocation)
    let found = try Net.predict(program, shape, values)
    #expect(found.count == expected.count, sourceLocation: sourceLocation)
    for (a, b) in zip(found, expected) {
      #expect(abs(Double(a) - b) <= 2e-6 * max(1, abs(b)), sourceLocation: sourceLocation)
    }
  }

  private static func expect(
    _ chain: Chain, _ operations: [String], sourceLocation: SourceLocation = #_sourceLocation,
    _ function: (Double) -> Double
  ) throws {
    try expect(
      chain.program([points.count]), operations, [points.count], points,
      points.map { function(Double($0)) }, sourceLocation: sourceLocation)
  }

  // MARK: - Elementwise functions

  /// −max(−max(x, 0), −limit), as in Keras networks.
  @Test(arguments: [(6, "relu6"), (5, "clip"), (6.001, "clip")] as [(Float, String)])
  func limits(limit: Float, operation: String) throws {
    var chain = Chain()
    chain.add("relu", Activation(.relu), "x")
    chain.linear("neg", -1, 0, "relu")
    chain.unary("limited", .threshold, "neg", alpha: -limit)
    chain.linear("y", -1, 0, "limited")
    try Self.expect(chain, [operation]) { min(max($0, 0), Double(limit)) }
  }

  /// The slope below 0 distinguishes it from relu6.
  @Test func leakyLimitsAreNotReLU6() throws {
    var chain = Chain()
    chain.add("relu", Activation(.leakyReLU(alpha: 0.001)), "x")
    chain.linear("neg", -1, 0, "relu")
    chain.unary("limited", .threshold, "neg", alpha: -6)
    chain.linear("y", -1, 0, "limited")
    let slope = Double(Float(0.001))
    try Self.expect(
      chain, ["leaky_relu", "linear_activation", "threshold", "linear_activation"]
    ) { min($0 < 0 ? slope * $0 : $0, 6) }
  }

  /// A value that another layer reads is kept.
  @Test func valuesInsideRemain() throws {
    var chain = Chain()
    chain.add("relu", Activation(.relu), "x")
    chain.linear("neg", -1, 0, "relu")
    chain.unary("limited", .threshold, "neg", alpha: -6)
    chain.linear("y", -1, 0, "limited")
    chain.add("z", Activation(.tanh), "neg")
    let program = try chain.program([1], outputs: ["y", "z"])
    #expect(
      Self.operations(program).sorted() == ["linear_activation", "relu", "relu6", "tanh"])
  }

  @Test(
    arguments: [
      (1, ["silu"]), (1.01, ["linear_activation", "sigmoid", "mul"]),
    ] as [(Float, [String])])
  func swish(factor: Float, operations: [String]) throws {
    var chain = Chain()
    chain.linear("z", factor, 0, "x")
    chain.add("gate", Activation(.sigmoid), "z")
    chain.add("y", MultiplyBroadcastable(), "x", "gate")
    try Self.expect(chain, operations) { $0 / (1 + exp(-Double(factor) * $0)) }
  }

  /// x · (1 + erf(x / √2)) / 2; with another factor, it is a different function.
  @Test(arguments: [(Float(0.5).squareRoot(), true), (0.7, false)])
  func gelu(factor: Float, isGELU: Bool) throws {
    var chain = Chain()
    chain.linear("z", factor, 0, "x")
    chain.add("erf", Erf(), "z")
    chain.linear("gate", 0.5, 0.5, "erf")
    chain.add("y", MultiplyBroadcastable(), "x", "gate")
    try Self.expect(
      chain, isGELU ? ["gelu"] : ["linear_activation", "erf", "linear_activation", "mul"]
    ) { $0 * 0.5 * (1 + erf(Double(factor) * $0)) }
  }

  /// x · (1 + tanh(√(2 / π) (x + c x³))) / 2 with c = 0.044715, or nearly so.
  @Test(arguments: [(0.044715, true), (0.045, false)] as [(Float, Bool)])
  func geluWithTanh(cubic: Float, isGELU: Bool) throws {
    var chain = Chain()
    let root = Float(2 / Double.pi).squareRoot()
    chain.unary("cube", .power, "x", alpha: 3)
    chain.linear("third", cubic, 0, "cube")
    chain.add("sum", AddBroadcastable(), "x", "third")
    chain.linear("z", root, 0, "sum")
    chain.add("tanh", Activation(.tanh), "z")
    chain.linear("gate", 0.5, 0.5, "tanh")
    chain.add("y", MultiplyBroadcastable(), "gate", "x")
    let program = try chain.program([Self.points.count])
    #expect(Self.operations(program).contains("gelu") == isGELU)
    if isGELU { #expect(Self.operations(program) == ["gelu"]) }
    let found = try Net.predict(program, [Self.points.count], Self.points)
    for (x, y) in zip(Self.points.map(Double.init), found) {
      let gate = 0.5 + 0.5 * tanh(Double(root) * (x + Double(cubic) * x * x * x))
      #expect(abs(Double(y) - x * gate) <= 2e-6 * max(1, abs(x)))
    }
  }

  /// x · min(max(x + 3, 0), 6) / 6 becomes a product with a hard sigmoid; with another limit, the
  /// gate does not reach 1.
  @Test(
    arguments: [
      (6, ["sigmoid_hard", "mul"]), (5, ["linear_activation", "clip"]),
    ] as [(Float, [String])])
  func hardSwish(limit: Float, operations: [String]) throws {
    var chain = Chain()
    chain.linear("moved", 1, 3, "x")
    var clip = Clip()
    (clip.minVal, clip.maxVal) = (0, limit)
    chain.add("clip", clip, "moved")
    chain.add("product", MultiplyBroadcastable(), "x", "clip")
    chain.linear("y", 1 / 6, 0, "product")
    let program = try chain.program([Self.points.count])
    #expect(Array(Self.operations(program).prefix(2)) == operations)
    let found = try Net.predict(program, [Self.points.count], Self.points)
    for (x, y) in zip(Self.points.map(Double.init), found) {
      let expected = x * min(max(x + 3, 0), Double(limit)) / 6
      #expect(abs(Double(y) - expected) <= 2e-6 * max(1, abs(expected)))
    }
  }

  @Test func differences() throws {
    var chain = Chain()
    chain.add("t", Activation(.tanh), "x")
    chain.linear("neg", -1, 0, "t")
    chain.add("y", AddBroadcastable(), "x", "neg")
    try Self.expect(chain, ["tanh", "sub"]) { $0 - tanh($0) }
  }

  // MARK: - Normalizations

  /// gamma · (x − mean) / √(variance + epsilon) + beta over some axes, and the expected values.
  private static func normalization(
    _ axes: [Int], second: [Int]? = nil, _ sizes: [Int]? = nil, rootFirst: Bool = false
  ) -> Chain {
    var chain = Chain()
    chain.mean("mean", axes, "x")
    chain.linear("neg", -1, 0, "mean")
    chain.add("centered", AddBroadcastable(), "x", "neg")
    chain.add("square", MultiplyBroadcastable(), "centered", "centered")
    chain.mean("variance", second ?? axes, "square")
    if rootFirst {
      chain.unary("root", .sqrt, "variance")
      chain.linear("deviation", 1, 0.5, "root")
      chain.add("unit", DivideBroadcastable(), "centered", "deviation")
    } else {
      chain.unary("factor", .rsqrt, "variance", epsilon: 0.5)
      chain.add("unit", MultiplyBroadcastable(), "centered", "factor")
    }
    let count = (sizes ?? [1]).reduce(1, *)
    chain.constant("gamma", (0..<count).map { Float($0) + 1 }, sizes ?? [1])
    chain.constant("beta", (0..<count).map { Float($0) / 2 }, sizes ?? [1])
    chain.add("scaled", MultiplyBroadcastable(), "unit", "gamma")
    chain.add("y", AddBroadcastable(), "scaled", "beta")
    return chain
  }

  /// 2 × 3 × 2 × 2 values, and the same values normalized along the axes; gamma and beta vary along
  /// axis 1 or the last axis.
  private static let volume = (0..<24).map { Float($0 * $0 % 17) - 4 }

  private static func normalized(_ axes: Set<Int>, channel: Int, rootFirst: Bool = false)
    -> [Double]
  {
    let strides = [12, 4, 2, 1]
    let sizes = [2, 3, 2, 2]
    func group(_ index: Int) -> Int {
      (0..<4).reduce(0) {
        $0 + (axes.contains($1) ? 0 : index / strides[$1] % sizes[$1] * strides[$1])
      }
    }
    return volume.indices.map { index in
      let own = volume.indices.filter { group($0) == group(index) }.map { Double(volume[$0]) }
      let mean = own.reduce(0, +) / Double(own.count)
      let variance = own.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(own.count)
      let deviation = rootFirst ? variance.squareRoot() + 0.5 : (variance + 0.5).squareRoot()
      let place = Double(index / strides[channel] % sizes[channel])
      return (place + 1) * (Double(volume[index]) - mean) / deviation + place / 2
    }
  }

  @Test func layerNormalization() throws {
    for (axis, sizes) in [(3, [2]), (1, [3, 1, 1])] {
      let program = try Self.normalization([axis], sizes).program([2, 3, 2, 2])
      try Self.expect(
        program, ["layer_norm"], [2, 3, 2, 2], Self.volume,
        Self.normalized([axis], channel: axis))
    }
  }

  @Test func instanceNormalization() throws {
    let program = try Self.normalization([2, 3], [3, 1, 1]).program([2, 3, 2, 2])
    try Self.expect(
      program, ["instance_norm"], [2, 3, 2, 2], Self.volume, Self.normalized([2, 3], channel: 1))
  }

  /// Here, epsilon is added to the root.
  @Test func otherDeviationsAreNoNormalization() throws {
    let program = try Self.normalization([3], [2], rootFirst: true).program([2, 3, 2, 2])
    #expect(!Self.operations(program).contains("layer_norm"))
    let found = try Net.predict(program, [2, 3, 2, 2], Self.volume)
    let expected = Self.normalized([3], channel: 3, rootFirst: true)
    for (a, b) in zip(found, expected) { #expect(abs(Double(a) - b) <= 1e-5) }
  }

  /// The mean of the squares is over different axes than the mean.
  @Test func otherAxesAreNoNormalization() throws {
    let program = try Self.normalization([3], second: [2], [2]).program([2, 3, 2, 2])
    #expect(!Self.operations(program).contains("layer_norm"))
  }

  /// Gamma along another axis stays a product after the normalization.
  @Test func otherFactorsRemain() throws {
    let program = try Self.normalization([3], [3, 1, 1]).program([2, 3, 2, 2])
    try Self.expect(
      program, ["layer_norm", "mul", "add"], [2, 3, 2, 2], Self.volume,
      Self.normalized([3], channel: 1))
  }

  // MARK: - Axes

  /// The softmax along axis 1 is computed without moving the elements.
  @Test func movesAroundFunctionsCancel() throws {
    var chain = Chain()
    chain.transpose("a", [0, 2, 3, 1], "x")
    chain.add("relu", Activation(.relu), "a")
    chain.linear("double", 2, 0, "relu")
    var softmax = SoftmaxND()
    softmax.axis = -1
    chain.add("soft", softmax, "double")
    chain.transpose("y", [0, 3, 1, 2], "soft")
    let expected = Self.volume.indices.map { index in
      let column = (0..<3).map { index / 12 * 12 + $0 * 4 + index % 4 }
      func power(_ place: Int) -> Double { exp(2 * Double(max(0, Self.volume[place]))) }
      return power(index) / column.map(power).reduce(0, +)
    }
    try Self.expect(
      chain.program([2, 3, 2, 2]), ["relu", "linear_activation", "softmax"], [2, 3, 2, 2],
      Self.volume, expected)
  }

  /// Every elementwise function is computed without moving the elements.
  @Test func movesAroundAnArcTangentCancel() throws {
    var chain = Chain()
    chain.transpose("a", [0, 2, 3, 1], "x")
    chain.add("f", Atan(), "a")
    chain.transpose("y", [0, 3, 1, 2], "f")
    try Self.expect(
      chain.program([2, 3, 2, 2]), ["atan"], [2, 3, 2, 2], Self.volume,
      Self.volume.map { atan(Double($0)) })
  }

  /// Two consecutive transposes become one; the last yields y[i, j, k, l] = x[l, j, i, k].
  @Test func movesJoin() throws {
    var chain = Chain()
    chain.transpose("a", [0, 2, 3, 1], "x")
    chain.transpose("y", [1, 3, 2, 0], "a")
    let expected = (0..<24).map { index in
      Double(Self.volume[index % 2 * 12 + index / 4 % 3 * 4 + index / 12 * 2 + index / 2 % 2])
    }
    try Self.expect(
      chain.program([2, 3, 2, 2]), ["transpose"], [2, 3, 2, 2], Self.volume, expected)
  }

  /// A sum of x and of a product of its rows, as images of one pixel: x has the axes of the rows, too,
  /// so that what follows the product keeps them. y = 3 · (x + 2x)
  @Test func imagesOfOnePixelBecomeRows() throws {
    func identity(_ factor: Float) -> Weights {
      Weights((0..<16).map { $0 % 5 == 0 ? factor : 0 })
    }
    var product = InnerProduct()
    (product.inputChannels, product.outputChannels, product.matrix) = (4, 4, identity(2))
    var convolution = Convolution()
    (convolution.outputChannels, convolution.kernelChannels) = (4, 4)
    (convolution.kernelSize, convolution.kernel) = ([1, 1], identity(3))
    convolution.padding = .valid(ValidPadding())
    var chain = Chain()
    func reshape(_ name: String, _ shape: [Int], _ input: String) {
      var layer = ReshapeStatic()
      layer.targetShape = shape
      chain.add(name, layer, input)
    }
    reshape("rows", [3, 4], "x")
    chain.add("product", product, "rows")
    reshape("pixels", [3, 4, 1, 1], "product")
    reshape("images", [3, 4, 1, 1], "x")
    chain.add("sum", AddBroadcastable(), "images", "pixels")
    chain.add("convolved", convolution, "sum")
    reshape("y", [3, 4], "convolved")
    let values = (0..<12).map(Float.init)
    try Self.expect(
      chain.program([3, 1, 4, 1]), ["squeeze", "linear", "add", "linear"], [3, 1, 4, 1], values,
      values.map { 9 * Double($0) })
  }

  /// The means of three channels of a sequence, 1 + 4 + 7 + 10 and so on divided by 4: one window
  /// covers the sequence.
  @Test func poolingOfASequenceIsAMean() throws {
    var (axis, pool, squeeze) = (ExpandDims(), Pooling(), Squeeze())
    (axis.axes, squeeze.axes) = ([1], [2, 3])
    (pool.type, pool.kernelSize, pool.stride) = (.average, [1, 4], [1, 4])
    pool.padding = .valid(ValidPadding())
    var chain = Chain()
    chain.add("image", axis, "x")
    chain.transpose("channels", [0, 3, 1, 2], "image")
    chain.add("means", pool, "channels")
    chain.add("y", squeeze, "means")
    try Self.expect(
      chain.program([1, 4, 3]), ["reduce_mean", "squeeze"], [1, 4, 3], (1...12).map(Float.init),
      [5.5, 6.5, 7.5])
  }

  /// Rows 2, 0 and 1 of ((1, 2), (3, 4), (5, 6)).
  @Test func indicesGetTheShapeOfTheirRows() throws {
    var axis = ExpandDims()
    axis.axes = [1]
    var chain = Chain()
    chain.constant("table", [1, 2, 3, 4, 5, 6], [3, 2])
    chain.add("rows", Gather(), "table", "x")
    chain.add("y", axis, "rows")
    try Self.expect(
      chain.program([3]), ["cast", "expand_dims", "gather"], [3], [2, 0, 1], [5, 6, 1, 2, 3, 4])
  }

  /// Rows are mixed: a reshape between transposes that splits an axis does not cancel them.
  @Test func movesThatMixElementsRemain() throws {
    var chain = Chain()
    chain.transpose("a", [1, 0], "x")
    var reshape = ReshapeStatic()
    reshape.targetShape = [2, 3]
    chain.add("b", reshape, "a")
    chain.transpose("y", [1, 0], "b")
    // x = 0…5 as [2, 3]; a = [[0, 3], [1, 4], [2, 5]]; b = [[0, 3, 1], [4, 2, 5]].
    try Self.expect(
      chain.program([2, 3]), ["transpose", "reshape", "transpose"], [2, 3],
      [0, 1, 2, 3, 4, 5], [0, 4, 3, 2, 1, 5])
  }

  /// The value between two transposes is an output, so the first is kept.
  @Test func outputsBetweenMovesRemain() throws {
    var chain = Chain()
    chain.transpose("a", [1, 0], "x")
    chain.add("relu", Activation(.relu), "a")
    chain.transpose("y", [1, 0], "relu")
    let program = try chain.program([2, 3], outputs: ["relu", "y"])
    #expect(Self.operations(program).filter { $0 == "transpose" }.count == 1)
    let values: [Float] = [-1, 2, -3, 4, -5, 6]
    // max(xᵀ, 0)
    #expect(try Net.predict(program, [2, 3], values) == [0, 4, 2, 0, 0, 6])
  }

  /// y = 3 (x · w + 1) − 2, for the weights 1 and 2 of two channels.
  @Test(arguments: [true, false])
  func batchNormalizationFolds(isOutput: Bool) throws {
    var layer = InnerProduct()
    (layer.inputChannels, layer.outputChannels, layer.hasBias) = (1, 2, true)
    (layer.matrix, layer.bias) = (Weights([1, 2]), Weights([1, 1]))
    var norm = Batchnorm()
    norm.channels = 2
    norm.epsilon = 0.25
    (norm.gamma, norm.beta) = (Weights([3, 3]), Weights([-2, -2]))
    (norm.mean, norm.variance) = (Weights([0, 0]), Weights([0.75, 0.75]))
    let program = try Net.model(
      [
        NeuralNetworkLayer("product", layer, input: ["x"], output: ["z"]),
        NeuralNetworkLayer("norm", norm, input: ["z"], output: ["y"]),
      ], inputs: [Net.array("x", [1])],
      outputs: [Net.array("y", [2])] + (isOutput ? [Net.array("z", [2])] : []), isExact: false
    ).mlProgram()
    #expect(Self.operations(program).contains("batch_norm") == isOutput)
    #expect(try Net.predict(program, [1], [5]) == [16, 31])
  }

  /// Caffe's Threshold: 3e38 · x is infinite in half precision, and its product with 0 is not a number.
  @Test func slopesBeyondHalfPrecisionStayInSingle() throws {
    let network = Networks.model(
      [
        NeuralNetworkLayer(
          "step", Activation(.sigmoidHard(alpha: 3e38, beta: 0)), input: ["x"], output: ["y"])
      ], inputs: [Networks.array("x", [3])], outputs: [Networks.array("y", [3])])
    var options = ProgramOptions()
    options.precision = .float16
    let program = try network.mlProgram(options)
    #expect(try Networks.predict(program, [3], [0, 0.5, -2]) == [0, 1, 0])
  }
}
