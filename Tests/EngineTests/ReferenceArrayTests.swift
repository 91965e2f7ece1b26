import CoreMLModel
import Testing

@testable import Engine

/// The reference implementations of layers on arrays of any rank, compared with NumPy.
@Suite struct ReferenceArrayTests {
  @Test func broadcasting() throws {
    let golden = Goldens("broadcast", isExact: true)
    try golden.check(AddBroadcastable(), ["a", "b"], ["add"])
    try golden.check(SubtractBroadcastable(), ["a", "b"], ["subtract"])
    try golden.check(MultiplyBroadcastable(), ["a", "b"], ["multiply"])
    try golden.check(DivideBroadcastable(), ["a", "b"], ["divide"])
    try golden.check(MaxBroadcastable(), ["a", "b"], ["maximum"])
    try golden.check(MinBroadcastable(), ["a", "b"], ["minimum"])
    try golden.check(FloorDivBroadcastable(), ["a", "b"], ["floor_divide"])
    try golden.check(ModBroadcastable(), ["a", "b"], ["modulo"])
    try golden.check(PowBroadcastable(), ["positive", "b"], ["power"])
    try golden.check(Add(), ["a", "b"], ["add"])
    try golden.check(Multiply(), ["a", "b"], ["multiply"])
    try golden.check(Max(), ["a", "b"], ["maximum"])
    try golden.check(Min(), ["a", "b"], ["minimum"])
  }

  @Test func averagesOfSeveralRanks() throws {
    // (1 + 10 + 100) / 3, (2 + 10 + 200) / 3; (1 + 20 + 100) / 3, (2 + 20 + 200) / 3
    let shapes = [[2], [2, 1], [1, 1, 2]]
    let inputs = zip(shapes, [[1, 2], [10, 20], [100, 200]]).map {
      ReferenceTensor(shape: $0, $1)
    }
    let average = try Average().exactReferenceOutputs(inputs, ReferenceSettings())[0]
    #expect(average.shape == [1, 2, 2])
    for (value, sum) in zip(average.elements, [111.0, 212, 121, 222]) {
      #expect(abs(value - sum / 3) < 1e-12)
    }
  }

  @Test func comparisons() throws {
    let golden = Goldens("compare", isExact: true)
    try golden.check(Equal(), ["a", "b"], ["equal"])
    try golden.check(NotEqual(), ["a", "b"], ["not_equal"])
    try golden.check(LessThan(), ["a", "b"], ["less"])
    try golden.check(LessEqual(), ["a", "b"], ["less_equal"])
    try golden.check(GreaterThan(), ["a", "b"], ["greater"])
    try golden.check(GreaterEqual(), ["a", "b"], ["greater_equal"])
    var above = GreaterThan()
    above.alpha = 1
    try golden.check(above, ["a"], ["above_one"])
    try golden.check(LogicalAnd(), ["a", "b"], ["logical_and"])
    try golden.check(LogicalOr(), ["a", "b"], ["logical_or"])
    try golden.check(LogicalXor(), ["a", "b"], ["logical_xor"])
    try golden.check(LogicalNot(), ["a"], ["logical_not"])
    try golden.check(WhereBroadcastable(), ["a", "x", "y"], ["where"])
  }

  @Test func elementFunctions() throws {
    let golden = Goldens("element", isExact: true)
    let layers: [any ReferenceLayer] = [
      Ceil(), Floor(), Sign(), Round(), Exp2(), Sin(), Cos(), Tan(), Sinh(), Cosh(), Tanh(), Atan(),
      Asinh(), Erf(), Gelu(),
    ]
    for layer in layers { try golden.check(layer, ["x"], [layer.typeName]) }
    try golden.check(Asin(), ["inside"], ["asin"])
    try golden.check(Acos(), ["inside"], ["acos"])
    try golden.check(Atanh(), ["inside"], ["atanh"])
    try golden.check(Acosh(), ["above"], ["acosh"])
    var clip = Clip()
    clip.minVal = -0.5
    clip.maxVal = 1.25
    try golden.check(clip, ["x"], ["clip"])
    var clamped = ClampedReLU()
    clamped.alpha = 0.25
    clamped.beta = 1
    try golden.check(clamped, ["x"], ["clamped"])
    var gelu = Gelu()
    gelu.mode = .tanhApproximation
    try golden.check(gelu, ["x"], ["tanh_gelu"])
    gelu.mode = .sigmoidApproximation
    try golden.check(gelu, ["x"], ["sigmoid_gelu"])
  }

  @Test func orders() throws {
    let golden = Goldens("order", isExact: true)
    var transpose = Transpose()
    transpose.axes = [2, 0, 3, 1]
    try golden.check(transpose, ["x"], ["transpose"])
    var reshape = ReshapeStatic()
    reshape.targetShape = [4, -1]
    try golden.check(reshape, ["x"], ["reshape"])
    var flatten = FlattenTo2D()
    flatten.axis = 2
    try golden.check(flatten, ["x"], ["two"])
    try golden.check(ReshapeLike(), ["x", "two"], ["two"])
    var expand = ExpandDims()
    expand.axes = [0, -3]
    try golden.check(expand, ["x"], ["expanded"])
    var squeeze = Squeeze()
    squeeze.axes = [0, -2]
    try golden.check(squeeze, ["single"], ["squeezed"])
    var concat = ConcatND()
    concat.axis = -2
    try golden.check(concat, ["x", "part"], ["concat"])
    concat.axis = 1
    concat.interleave = true
    try golden.check(concat, ["x", "negative"], ["interleaved"])
    var stack = Stack()
    stack.axis = -1
    try golden.check(stack, ["x", "negative", "x"], ["stack"])
    var split = SplitND()
    split.axis = 3
    split.splitSizes = [2, 3]
    try golden.check(split, ["x"], ["split_0", "split_1"])
  }

  @Test func reductions() throws {
    let golden = Goldens("reduce", isExact: true)
    func check<Layer: AxesReductionLayer & ReferenceLayer>(
      _ type: Layer.Type, _ key: String, input: String = "x", axes: [Int] = [-1, 1],
      keeps: Bool = false
    ) throws {
      var layer = Layer()
      layer.axes = axes
      layer.keepDims = keeps
      try golden.check(layer, [input], [key])
    }
    try check(ReduceSum.self, "sum")
    try check(ReduceMean.self, "mean")
    try check(ReduceProd.self, "prod")
    try check(ReduceMax.self, "max")
    try check(ReduceMin.self, "min")
    try check(ReduceL1.self, "l1")
    try check(ReduceL2.self, "l2")
    try check(ReduceSumSquare.self, "sum_square")
    try check(ReduceLogSum.self, "log_sum", input: "positive")
    try check(ReduceLogSumExp.self, "log_sum_exp")
    try check(ReduceMean.self, "kept", keeps: true)
    try check(ReduceSum.self, "all", axes: [])
  }

  @Test func normalizations() throws {
    var softmax = SoftmaxND()
    softmax.axis = 1
    try Goldens("softmax", isExact: true).check(softmax, ["x"], ["axis_1"])
    softmax.axis = -1
    try Goldens("softmax", isExact: true).check(softmax, ["x"], ["axis_last"])
    let golden = Goldens("layer_norm", isExact: true)
    var layer = LayerNormalization()
    layer.normalizedShape = [2, 5]
    layer.eps = 1e-3
    layer.gamma = try golden.weights("gamma")
    layer.beta = try golden.weights("beta")
    try golden.check(layer, ["x"])
  }

  @Test func products() throws {
    let golden = Goldens("matmul", isExact: true)
    var layer = BatchedMatMul()
    try golden.check(layer, ["a", "b"], ["product"])
    try golden.check(layer, ["vector", "b"], ["row"])
    try golden.check(layer, ["swapped_b", "vector"], ["column"])
    layer.transposeA = true
    layer.transposeB = true
    try golden.check(layer, ["swapped_a", "swapped_b"], ["product"])
    layer = BatchedMatMul()
    layer.weightMatrixFirstDimension = 4
    layer.weightMatrixSecondDimension = 7
    layer.matrix = try golden.weights("weights")
    layer.hasBias = true
    layer.bias = try golden.weights("bias")
    try golden.check(layer, ["a"], ["weighted"])
  }
}
