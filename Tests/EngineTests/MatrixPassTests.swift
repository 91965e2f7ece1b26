import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// The effect of the passes on matrix products: the remaining steps and the results, compared with
/// the double-precision reference implementation.
@Suite struct MatrixPassTests {
  private typealias Net = TestNetwork

  /// - Parameter steps: the steps other than views, for every instruction set.
  private func expect(
    _ shapes: [[Int]], _ layers: [NeuralNetworkLayer], becomes steps: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let model = Net.exactModel(shapes, layers)
    var random = SplitMix64(seed: 3)
    var inputs: [String: Tensor] = [:]
    for (index, shape) in shapes.enumerated() {
      inputs["in\(index)"] = Tensor(shape: shape, random.values(shape.reduce(1, *)))
    }
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(inputs.mapValues(ReferenceTensor.init))["out"])
    for set in InstructionSet.allCases where set.isAvailable {
      for threads in 1...2 {
        var options = CompileOptions()
        options.instructionSet = set
        options.threads = threads
        for (name, tensor) in inputs { options.inputShapes[name] = tensor.shape }
        let network = try CompiledNetwork(model: model, options: options)
        let kernels = network.steps.filter {
          !["input", "output", "convert"].contains($0.layerType)
            && $0.kernel != "view"
        }.map(\.kernel)
        #expect(kernels == steps, "\(set)", sourceLocation: sourceLocation)
        let actual = try #require(try network.predict(inputs)["out"])
        let error = relativeError(actual.elements.map(Double.init), expected.elements)
        #expect(error < 5e-6, "\(set), \(threads) threads", sourceLocation: sourceLocation)
      }
    }
  }

  private func linear(_ inputs: Int, _ outputs: Int, seed: UInt64 = 5) -> BatchedMatMul {
    var random = SplitMix64(seed: seed)
    var layer = BatchedMatMul()
    layer.weightMatrixFirstDimension = inputs
    layer.weightMatrixSecondDimension = outputs
    layer.matrix = random.weights(inputs * outputs)
    layer.hasBias = true
    layer.bias = random.weights(outputs)
    return layer
  }

  @Test(arguments: [(5, 32, 48), (70, 64, 16), (33, 96, 112)])
  func linearTakesTheFactorTheActivationAndTheSum(_ rows: Int, _ inputs: Int, _ outputs: Int)
    throws
  {
    let product = Net.layer("p", linear(inputs, outputs), "in0", "a")
    try expect(
      [[1, rows, inputs], [1, rows, outputs]],
      [
        product, Net.layer("s", Activation(.linear(alpha: 0.5, beta: 1)), "a", "b"),
        NeuralNetworkLayer("+", AddBroadcastable(), input: ["in1", "b"], output: ["c"]),
        Net.layer("r", Activation(.relu), "c", "out"),
      ], becomes: ["linear + residual + relu"])
    try expect(
      [[rows, inputs]], [product, Net.layer("r", Activation(.leakyReLU(alpha: 0.2)), "a", "out")],
      becomes: ["linear + leaky"])
  }

  /// Rows that end inside a block, and depths that are not a multiple of blocks.
  @Test(arguments: [(4, 7, 9), (50, 33, 1), (6, 130, 37), (13, 32, 1000)])
  func linearOfOddSizes(_ rows: Int, _ inputs: Int, _ outputs: Int) throws {
    try expect(
      [[2, rows, inputs]],
      [
        Net.layer("p", linear(inputs, outputs), "in0", "a"),
        Net.layer("r", Activation(.relu), "a", "out"),
      ], becomes: ["linear + relu"])
  }

  @Test func largeLinear() throws {
    let layers = [
      Net.layer("p", linear(512, 528), "in0", "a"),
      NeuralNetworkLayer("+", AddBroadcastable(), input: ["a", "in1"], output: ["out"]),
    ]
    let shapes = [[1, 197, 512], [1, 197, 528]]
    try expect(shapes, layers, becomes: ["linear + residual"])
  }

  private func reshape(_ shape: [Int]) -> ReshapeStatic {
    var layer = ReshapeStatic()
    layer.targetShape = shape
    return layer
  }

  private func transpose(_ axes: [Int]) -> Transpose {
    var layer = Transpose()
    layer.axes = axes
    return layer
  }

  /// Channels that are moved to the end to be normalized, and back or elsewhere.
  @Test(
    arguments: [[2, 35, 6, 7], [1, 64, 5, 3]],
    [
      ([0, 3, 1, 2], ["layer normalization"]),
      ([0, 3, 2, 1], ["transpose", "layer normalization", "transpose"]),
    ])
  func normalizedChannels(_ shape: [Int], _ back: ([Int], [String])) throws {
    var normalization = LayerNormalization()
    normalization.normalizedShape = [shape[1]]
    normalization.eps = 1e-3
    var random = SplitMix64(seed: 3)
    normalization.gamma = random.weights(shape[1])
    normalization.beta = random.weights(shape[1])
    let layers = [
      Net.layer("t", transpose([0, 2, 3, 1]), "in0", "a"),
      Net.layer("n", normalization, "a", "b"), Net.layer("u", transpose(back.0), "b", "out"),
    ]
    try expect([shape], layers, becomes: back.1)
  }

  private func heads(_ input: String, _ output: String, _ shape: [Int]) -> [NeuralNetworkLayer] {
    [
      Net.layer("view \(input)", reshape(shape), input, "\(input) view"),
      Net.layer("heads \(input)", transpose([0, 2, 1, 3]), "\(input) view", output),
    ]
  }

  private var softmax: SoftmaxND {
    var layer = SoftmaxND()
    layer.axis = -1
    return layer
  }

  private var transposedProduct: BatchedMatMul {
    var layer = BatchedMatMul()
    layer.transposeB = true
    return layer
  }

  /// Heads are read and written in place, with and without a mask, for sizes with partial blocks.
  @Test(
    arguments: [(1, 2, 5, 5, 8), (2, 3, 50, 17, 16), (1, 1, 1, 40, 7), (1, 2, 97, 97, 24)],
    [nil, [1, 1], [97, 1], [1, 97]])
  func attention(_ sizes: (Int, Int, Int, Int, Int), _ maskSizes: [Int]?) throws {
    let (batch, count, rows, keys, size) = sizes
    var layers =
      heads("in0", "q", [batch, rows, count, size]) + heads("in1", "k", [batch, keys, count, size])
      + heads("in2", "v", [batch, keys, count, size])
      + [
        NeuralNetworkLayer("qk", transposedProduct, input: ["q", "k"], output: ["scores"]),
        Net.layer("scale", Activation(.linear(alpha: 0.3, beta: 0)), "scores", "scaled"),
      ]
    var shapes = [rows, keys, keys].map { [batch, $0, count * size] }
    if let maskSizes {
      shapes.append([batch, 1, maskSizes[0] > 1 ? rows : 1, maskSizes[1] > 1 ? keys : 1])
      layers.append(
        NeuralNetworkLayer("mask", AddBroadcastable(), input: ["scaled", "in3"], output: ["m"]))
    }
    layers += [
      Net.layer("soft", softmax, maskSizes == nil ? "scaled" : "m", "weights"),
      NeuralNetworkLayer("wv", BatchedMatMul(), input: ["weights", "v"], output: ["heads"]),
      Net.layer("back", transpose([0, 2, 1, 3]), "heads", "rows"),
      Net.layer("join", reshape([batch, rows, count * size]), "rows", "out"),
    ]
    try expect(
      shapes, layers, becomes: ["attention" + (maskSizes == nil ? "" : " + mask")])
  }

  /// Keras's mask: scores · kept + (kept − 1) · 10⁹. If all keys of a query are masked, their
  /// weights depend on the factor.
  @Test(arguments: [[1, 5, 9], [2, 5, 9], [1, 1, 9], [2, 5, 1]])
  func attentionWithAFactorAndAMask(_ sizes: [Int]) throws {
    let (count, rows, keys, size) = (2, 5, 9, 6)
    let layers = [
      NeuralNetworkLayer("qk", transposedProduct, input: ["in0", "in1"], output: ["scores"]),
      Net.layer("kept", Unary().with(\.type, .threshold), "in3", "positive"),
      Net.layer("one", Activation(.sigmoidHard(alpha: 1e9, beta: 0)), "positive", "kept"),
      Net.layer("offset", Activation(.linear(alpha: 1e9, beta: -1e9)), "kept", "offset"),
      NeuralNetworkLayer("factor", Multiply(), input: ["scores", "kept"], output: ["product"]),
      NeuralNetworkLayer("mask", Add(), input: ["product", "offset"], output: ["m"]),
      Net.layer("soft", softmax, "m", "weights"),
      NeuralNetworkLayer("wv", BatchedMatMul(), input: ["weights", "in2"], output: ["out"]),
    ]
    let shapes = [rows, keys, keys].map { [count, 1, 1, $0, size] }
    try expect(
      shapes + [[sizes[0], 1, 1, sizes[1], sizes[2]]], layers,
      becomes: ["threshold", "hardSigmoid", "linear", "attention + mask"])
  }

  /// The softmax of version 1 is that of the channels: rows of scores are moved there and back.
  @Test(arguments: [true, false])
  func softmaxOfMovedRows(_ movesBack: Bool) throws {
    let shape = [2, 1, 1, 7, 24]
    var permute = Permute()
    permute.axis = [0, 3, 2, 1]
    var layers = [
      NeuralNetworkLayer("qk", transposedProduct, input: ["in0", "in1"], output: ["scores"]),
      Net.layer("scale", Activation(.linear(alpha: 0.3, beta: 0)), "scores", "scaled"),
      Net.layer("moved", permute, "scaled", "channels"),
      Net.layer("soft", Softmax(), "channels", movesBack ? "moved weights" : "out"),
    ]
    if movesBack {
      layers += [
        Net.layer("back", permute, "moved weights", "weights"),
        NeuralNetworkLayer("wv", BatchedMatMul(), input: ["weights", "in2"], output: ["out"]),
      ]
    }
    try expect(
      [shape, shape] + (movesBack ? [shape] : []), layers,
      becomes: movesBack ? ["attention"] : ["matrix product", "softmax", "permute"])
  }

  /// Queries, keys and values are parts of one array.
  @Test func attentionReadsSlices() throws {
    var layers = [
      Net.layer("view", reshape([19, 3, 2, 8]), "in0", "parts"),
      Net.layer("order", transpose([1, 2, 0, 3]), "parts", "ordered"),
    ]
    for (index, name) in ["q", "k", "v"].enumerated() {
      var slice = SliceStatic()
      slice.beginIds = [index, 0, 0, 0]
      slice.endIds = [index + 1, 2, 19, 8]
      slice.strides = [1, 1, 1, 1]
      slice.beginMasks = [false, false, false, false]
      slice.endMasks = slice.beginMasks
      slice.squeezeMasks = [true, false, false, false]
      layers.append(Net.layer(name, slice, "ordered", name))
    }
    layers += [
      Net.layer("scale", Activation(.linear(alpha: 0.5, beta: 0)), "q", "scaled"),
      NeuralNetworkLayer("qk", transposedProduct, input: ["scaled", "k"], output: ["scores"]),
      Net.layer("soft", softmax, "scores", "weights"),
      NeuralNetworkLayer("wv", BatchedMatMul(), input: ["weights", "v"], output: ["out"]),
    ]
    try expect([[19, 48]], layers, becomes: ["attention"])
  }

  /// Steps of a decoder: layer 1 of a cache of two, followed by new keys and values. A few queries
  /// read them in place; for more, they are copied and packed.
  @Test(arguments: [1, 3, 4])
  func attentionReadsACache(_ rows: Int) throws {
    let (count, size, past) = (2, 24, 7)
    var layers = heads("in0", "q", [1, rows, count, size])
    for (index, name) in ["k", "v"].enumerated() {
      var slice = SliceStatic()
      slice.beginIds = [1, 0, 0, 0, 0]
      slice.endIds = [2, 1, count, past, size]
      slice.strides = [1, 1, 1, 1, 1]
      slice.beginMasks = [Bool](repeating: false, count: 5)
      slice.endMasks = slice.beginMasks
      slice.squeezeMasks = [true, false, false, false, false]
      var join = ConcatND()
      join.axis = 2
      layers.append(Net.layer("slice \(name)", slice, "in\(1 + index)", "\(name) past"))
      layers += heads("in\(3 + index)", "\(name) new", [1, rows, count, size])
      layers.append(
        NeuralNetworkLayer(
          "all \(name)", join, input: ["\(name) past", "\(name) new"], output: [name]))
    }
    layers += [
      NeuralNetworkLayer("qk", transposedProduct, input: ["q", "k"], output: ["scores"]),
      Net.layer("scale", Activation(.linear(alpha: 0.3, beta: 0)), "scores", "scaled"),
      Net.layer("soft", softmax, "scaled", "weights"),
      NeuralNetworkLayer("wv", BatchedMatMul(), input: ["weights", "v"], output: ["heads"]),
      Net.layer("back", transpose([0, 2, 1, 3]), "heads", "rows"),
      Net.layer("join", reshape([1, rows, count * size]), "rows", "out"),
    ]
    let cache = [2, 1, count, past, size]
    let new = [1, rows, count * size]
    let copies = ["slice", "transpose", "concat"]
    try expect(
      [new, cache, cache, new, new], layers,
      becomes: rows < 4 ? ["attention"] : copies + copies + ["attention"])
  }

  /// Images of one pixel are the rows of a matrix: a packed product reads each weight once for many
  /// of them, a convolution once for each.
  @Test func convolutionsOfSinglePixelsAreProducts() throws {
    try expect(
      [[9, 32, 1, 1]], [Net.layer("c", Net.convolution(32, 48, kernel: [1, 1]), "in0", "out")],
      becomes: ["linear"])
  }

  /// Scores with other readers, or normalized along another axis, are not changed.
  @Test func otherSoftmaxesStay() throws {
    var columns = SoftmaxND()
    columns.axis = -2
    try expect(
      [[3, 9, 8], [3, 9, 8]],
      [
        NeuralNetworkLayer("qk", transposedProduct, input: ["in0", "in1"], output: ["scores"]),
        Net.layer("soft", columns, "scores", "weights"),
        NeuralNetworkLayer("wv", BatchedMatMul(), input: ["weights", "in1"], output: ["out"]),
      ], becomes: ["matrix product", "transpose", "softmax", "transpose", "matrix product"])
  }
}
