import TensorCore
import Testing

@testable import CoreMLModel

/// Expected shapes are calculated by hand from the adjacent formula.
struct OutputShapeTests {
  private func convolution(
    _ kernel: [Int], stride: [Int] = [], dilation: [Int] = [], padding: Convolution.Padding? = nil,
    inputs: Int = 4, outputs: Int = 6, groups: Int = 0
  ) -> Convolution {
    var layer = Convolution()
    layer.outputChannels = outputs
    layer.kernelChannels = inputs / max(1, groups)
    layer.nGroups = groups
    layer.kernelSize = kernel
    layer.stride = stride
    layer.dilationFactor = dilation
    layer.padding = padding
    return layer
  }

  private func valid(_ top: Int, _ bottom: Int, _ left: Int, _ right: Int) -> ValidPadding {
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(top: top, bottom: bottom, left: left, right: right)
    return padding
  }

  @Test func convolutions() throws {
    // ⌊(11 + 1 + 2 − 3) / 2⌋ + 1 = 6; ⌊(9 + 0 + 1 − 5) / 3⌋ + 1 = 2
    #expect(
      try convolution([3, 5], stride: [2, 3], padding: .valid(valid(1, 2, 0, 1)))
        .outputShapes([[2, 3, 4, 11, 9]]) == [[2, 3, 6, 6, 2]])
    // The default kernel is 3 × 3: 11 − 2 = 9; dilation 2 spans 5: 11 − 4 = 7.
    #expect(
      try convolution([], dilation: [1, 2], groups: 2).outputShapes([[1, 1, 4, 11, 11]])
        == [[1, 1, 6, 9, 7]])
    // ⌈7 / 2⌉ = 4, ⌈8 / 3⌉ = 3
    let same = convolution([3, 3], stride: [2, 3], padding: .same(SamePadding()))
    #expect(try same.outputShapes([[1, 1, 4, 7, 8]]) == [[1, 1, 6, 4, 3]])
    // (4 − 1) · 2 + 3 − 7 = 2 → 1 + 1; (3 − 1) · 3 + 3 − 8 = 1 → 0 + 1
    #expect(
      try same.explicitPadding([7, 8]) == ExplicitPadding(top: 1, bottom: 1, left: 0, right: 1))
    var heavy = SamePadding()
    heavy.asymmetryMode = .topLeftHeavy
    #expect(
      try convolution([3, 3], stride: [2, 3], padding: .same(heavy)).explicitPadding([7, 8])
        == ExplicitPadding(top: 1, bottom: 1, left: 1, right: 0))
  }

  @Test func deconvolutions() throws {
    var layer = convolution([3, 4], stride: [2, 2], padding: .valid(valid(1, 0, 1, 1)))
    layer.isDeconvolution = true
    // (5 − 1) · 2 + 3 − 1 = 10; (6 − 1) · 2 + 4 − 2 = 12
    #expect(try layer.outputShapes([[1, 1, 4, 5, 6]]) == [[1, 1, 6, 10, 12]])
    layer.padding = .same(SamePadding())
    #expect(try layer.outputShapes([[1, 1, 4, 5, 6]]) == [[1, 1, 6, 10, 12]])
    // 11 − 10 = 1 → 0 + 1; 14 − 12 = 2 → 1 + 1
    #expect(
      try layer.explicitPadding([5, 6]) == ExplicitPadding(top: 0, bottom: 1, left: 1, right: 1))
    layer.outputShape = [11, 13]
    #expect(try layer.outputShapes([[1, 1, 4, 5, 6]]) == [[1, 1, 6, 11, 13]])
    layer.nGroups = 3
    #expect(throws: ModelError.self) { try layer.outputShapes([[1, 1, 4, 5, 6]]) }
  }

  @Test func poolings() throws {
    var layer = Pooling()
    layer.kernelSize = [2, 2]
    layer.stride = [1, 1]
    layer.padding = .same(SamePadding())
    // A 2 × 2 window with stride 1 keeps the size and pads only at the right and bottom.
    #expect(try layer.outputShapes([[1, 1, 3, 13, 13]]) == [[1, 1, 3, 13, 13]])
    #expect(
      try layer.explicitPadding([13, 13])
        == ExplicitPadding(top: 0, bottom: 1, left: 0, right: 1))
    layer.kernelSize = [3, 3]
    layer.stride = [2, 2]
    layer.padding = .valid(ValidPadding())
    #expect(try layer.outputShapes([[1, 1, 3, 8, 9]]) == [[1, 1, 3, 3, 4]])
    // ⌈(8 − 3) / 2⌉ + 1 = 4; ⌈(9 − 3) / 2⌉ + 1 = 4
    var complete = ValidCompletePadding()
    layer.padding = .includeLastPixel(complete)
    #expect(try layer.outputShapes([[1, 1, 3, 8, 9]]) == [[1, 1, 3, 4, 4]])
    // ⌈(7 + 2 − 2) / 2⌉ + 1 = 5, whose last window would start at 8 ≥ 7 + 1: 4
    layer.kernelSize = [2, 2]
    complete.paddingAmounts = [1, 1]
    layer.padding = .includeLastPixel(complete)
    #expect(try layer.outputShapes([[1, 1, 3, 7, 7]]) == [[1, 1, 3, 4, 4]])
    layer.globalPooling = true
    #expect(try layer.outputShapes([[1, 1, 3, 7, 7]]) == [[1, 1, 3, 1, 1]])
  }

  @Test func windowsThatDoNotFit() {
    var pooling = Pooling()
    pooling.kernelSize = [9, 9]
    #expect(throws: ModelError.self) { try pooling.outputShapes([[1, 1, 3, 7, 7]]) }
    #expect(throws: ModelError.self) { try convolution([9, 9]).outputShapes([[1, 1, 4, 7, 7]]) }
    #expect(throws: ModelError.self) { try convolution([3]).outputShapes([[1, 1, 4, 7, 7]]) }
    #expect(throws: ModelError.self) { try convolution([3, 0]).outputShapes([[1, 1, 4, 7, 7]]) }
    #expect(throws: ModelError.self) { try convolution([3, 3]).outputShapes([[1, 1, 5, 7, 7]]) }
    #expect(throws: ModelError.self) { try convolution([3, 3]).outputShapes([[4, 7, 7]]) }
    #expect(throws: ModelError.self) {
      try convolution([.max, .max]).outputShapes([[1, 1, 4, 7, 7]])
    }
  }

  @Test func shapesOfOneInput() throws {
    let input = [[2, 3, 4, 6, 8]]
    func check(
      _ layer: some LayerParameters, _ expected: [[Int]],
      _ location: SourceLocation = #_sourceLocation
    ) throws {
      #expect(try layer.outputShapes(input) == expected, sourceLocation: location)
    }
    try check(Activation(.relu), input)
    try check(Softmax(), input)
    try check(LRN(), input)
    try check(L2Normalize(), input)
    try check(MeanVarianceNormalize(), input)
    try check(Unary(), input)
    try check(Add(), input)
    try check(Flatten(), [[2, 3, 192, 1, 1]])
    var batchnorm = Batchnorm()
    batchnorm.channels = 4
    try check(batchnorm, input)
    var dense = InnerProduct()
    dense.inputChannels = 192
    dense.outputChannels = 10
    try check(dense, [[2, 3, 10, 1, 1]])
    var crop = Crop()
    crop.cropAmounts = BorderAmounts(top: 1, bottom: 2, left: 3, right: 1)
    try check(crop, [[2, 3, 4, 3, 4]])
    var padding = Padding()
    padding.kind = .constant(value: 0)
    padding.paddingAmounts = BorderAmounts(top: 1, bottom: 2, left: 3, right: 1)
    try check(padding, [[2, 3, 4, 9, 12]])
    var upsample = Upsample()
    upsample.scalingFactor = [2, 3]
    try check(upsample, [[2, 3, 4, 12, 24]])
    upsample.fractionalScalingFactor = [1.5, 0.3]
    try check(upsample, [[2, 3, 4, 9, 2]])
    var resize = ResizeBilinear()
    resize.targetSize = [5, 7]
    try check(resize, [[2, 3, 4, 5, 7]])
    var reshape = Reshape()
    reshape.targetShape = [8, 2, 12]
    try check(reshape, [[2, 3, 8, 2, 12]])
    reshape.targetShape = [16, 24, 1, 1]
    try check(reshape, [[16, 3, 24, 1, 1]])
    reshape.targetShape = [-1, 24, 1, 1]
    try check(reshape, [[16, 3, 24, 1, 1]])
    reshape.targetShape = [8, -1, 12]
    try check(reshape, [[2, 3, 8, 2, 12]])
    var permute = Permute()
    permute.axis = [3, 0, 2, 1]
    try check(permute, [[8, 3, 2, 6, 4]])
    var split = Split()
    split.nOutputs = 2
    try check(split, [[2, 3, 2, 6, 8], [2, 3, 2, 6, 8]])
    var again = SequenceRepeat()
    try check(again, input)
    again.nRepetitions = 5
    try check(again, [[10, 3, 4, 6, 8]])
    var reorganize = ReorganizeData()
    reorganize.blockSize = 2
    try check(reorganize, [[2, 3, 16, 3, 4]])
    reorganize.mode = .depthToSpace
    try check(reorganize, [[2, 3, 1, 12, 16]])
    var slice = Slice()
    slice.axis = .width
    slice.startIndex = 1
    slice.endIndex = -1
    slice.stride = 4
    // Indices 1 and 5 of 1..<7.
    try check(slice, [[2, 3, 4, 6, 2]])
    slice.startIndex = -3
    slice.endIndex = 8
    slice.stride = 1
    try check(slice, [[2, 3, 4, 6, 3]])
    for (axis, shape) in zip(
      Reduce.Axis.allCases,
      [[2, 3, 1, 1, 1], [2, 3, 4, 1, 1], [2, 3, 1, 6, 8], [2, 3, 4, 1, 8], [2, 3, 4, 6, 1]])
    {
      var reduce = Reduce()
      reduce.axis = axis
      try check(reduce, [shape])
    }
    var scale = Scale()
    for shape in [[1], [4], [1, 6, 8], [4, 6, 8], [4, 1, 1]] {
      scale.shapeScale = shape
      try check(scale, input)
    }
  }

  @Test func shapesOfSeveralInputs() throws {
    #expect(
      try Concat().outputShapes([[1, 1, 2, 5, 5], [1, 1, 3, 5, 5]]) == [[1, 1, 5, 5, 5]])
    var sequence = Concat()
    sequence.sequenceConcat = true
    #expect(
      try sequence.outputShapes([[1, 1, 2, 5, 5], [4, 1, 2, 5, 5]]) == [[5, 1, 2, 5, 5]])
    #expect(throws: ModelError.self) {
      try Concat().outputShapes([[1, 1, 2, 5, 5], [1, 1, 3, 5, 4]])
    }
    #expect(
      try Add().outputShapes([[1, 1, 2, 1, 1], [1, 1, 1, 5, 4]]) == [[1, 1, 2, 5, 4]])
    #expect(throws: ModelError.self) {
      try Multiply().outputShapes([[1, 1, 2, 5, 5], [1, 1, 3, 5, 5]])
    }
    #expect(throws: ModelError.self) {
      try Max().outputShapes([[1, 1, 2, 5, 5], [1, 1, 3, 5, 5]])
    }
    #expect(
      try DotProduct().outputShapes([[1, 1, 9, 1, 1], [1, 1, 9, 1, 1]]) == [[1, 1, 1, 1, 1]])
    var crop = Crop()
    crop.offset = [1, 2]
    #expect(
      try crop.outputShapes([[1, 1, 3, 9, 9], [1, 1, 7, 8, 7]]) == [[1, 1, 3, 8, 7]])
    crop.offset = [2, 2]
    #expect(throws: ModelError.self) {
      try crop.outputShapes([[1, 1, 3, 9, 9], [1, 1, 7, 8, 7]])
    }
    var boxes = CropResize()
    boxes.targetSize = [2, 3]
    #expect(
      try boxes.outputShapes([[1, 4, 3, 9, 9], [7, 1, 4, 1, 1]]) == [[7, 4, 3, 2, 3]])
    #expect(
      try boxes.outputShapes([[1, 4, 3, 9, 9], [7, 1, 5, 1, 1]]) == [[7, 1, 3, 2, 3]])
  }

  @Test func recurrent() throws {
    var lstm = UniDirectionalLSTM()
    lstm.inputVectorSize = 6
    lstm.outputVectorSize = 5
    #expect(
      try lstm.outputShapes([[7, 2, 6, 1, 1]])
        == [[1, 2, 5, 1, 1], [1, 2, 5, 1, 1], [1, 2, 5, 1, 1]])
    lstm.params = LSTMParameters()
    lstm.params?.sequenceOutput = true
    #expect(try lstm.outputShapes([[7, 2, 6, 1, 1]])[0] == [7, 2, 5, 1, 1])
    #expect(throws: ModelError.self) { try lstm.outputShapes([[7, 2, 5, 1, 1]]) }
    #expect(throws: ModelError.self) {
      try lstm.outputShapes([[7, 2, 6, 1, 1], [1, 2, 5, 1, 1], [1, 2, 4, 1, 1]])
    }
    var both = BiDirectionalLSTM()
    both.inputVectorSize = 6
    both.outputVectorSize = 5
    #expect(try both.outputShapes([[7, 2, 6, 1, 1]]).map { $0[2] } == [10, 5, 5, 5, 5])
    var gru = GRU()
    gru.inputVectorSize = 6
    gru.outputVectorSize = 5
    gru.sequenceOutput = true
    #expect(
      try gru.outputShapes([[7, 2, 6, 1, 1], [1, 2, 5, 1, 1]])
        == [[7, 2, 5, 1, 1], [1, 2, 5, 1, 1]])
  }

  /// Sizes in a hostile file produce an error, never a trap.
  @Test func extremeSizes() {
    let extremes = [Int.min, -1, 0, 1, Int(Int32.max), Int.max]
    for a in extremes {
      for b in extremes {
        let input = [[1, 1, 4, 6, 8]]
        _ = try? convolution([a, b], stride: [b, a]).outputShapes(input)
        _ = try? convolution([3, 3], stride: [a, b], padding: .same(SamePadding()))
          .outputShapes(input)
        _ = try? convolution([3, 3], dilation: [a, b], padding: .valid(valid(a, b, a, b)))
          .outputShapes(input)
        var transposed = convolution([3, 3], stride: [a, b], padding: .valid(valid(a, b, 0, 0)))
        transposed.isDeconvolution = true
        transposed.nGroups = a
        _ = try? transposed.outputShapes(input)
        transposed.outputShape = [a, b]
        transposed.nGroups = 1
        _ = try? transposed.outputShapes(input)
        _ = try? transposed.explicitPadding([6, 8])
        var pooling = Pooling()
        pooling.kernelSize = [a, a]
        pooling.stride = [b, b]
        for padding in [
          Pooling.Padding.same(SamePadding()), .valid(valid(a, b, b, a)),
          .includeLastPixel(ValidCompletePadding()),
        ] {
          pooling.padding = padding
          _ = try? pooling.outputShapes(input)
        }
        var slice = Slice()
        slice.startIndex = a
        slice.endIndex = b
        slice.stride = a
        _ = try? slice.outputShapes(input)
        var reorganize = ReorganizeData()
        for mode in ReorganizeData.Mode.allCases {
          reorganize.mode = mode
          reorganize.blockSize = a
          _ = try? reorganize.outputShapes(input)
        }
        var reshape = Reshape()
        reshape.targetShape = [a, b, a]
        _ = try? reshape.outputShapes(input)
        reshape.targetShape = [a, b, a, b]
        _ = try? reshape.outputShapes(input)
        var padding = Padding()
        padding.paddingAmounts = BorderAmounts(top: a, bottom: b, left: b, right: a)
        _ = try? padding.outputShapes(input)
        var crop = Crop()
        crop.cropAmounts = padding.paddingAmounts
        crop.offset = [a, b]
        _ = try? crop.outputShapes(input)
        _ = try? crop.outputShapes(input + input)
        var lstm = BiDirectionalLSTM()
        lstm.inputVectorSize = 192
        lstm.outputVectorSize = a
        _ = try? lstm.outputShapes(input)
        var upsample = Upsample()
        upsample.scalingFactor = [a, b]
        _ = try? upsample.outputShapes(input)
        upsample.fractionalScalingFactor = [Float(a), .infinity]
        _ = try? upsample.outputShapes(input)
        var split = Split()
        split.nOutputs = a
        _ = try? split.outputShapes(input)
        var sequence = SequenceRepeat()
        sequence.nRepetitions = a
        _ = try? sequence.outputShapes(input)
        _ = convolution([a, b], inputs: a, outputs: b).kernelShape
      }
    }
  }
}
