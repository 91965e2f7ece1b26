import CoreMLModel
import Testing

@testable import Engine

/// The reference implementations of layers that take arrays apart, and of 3D layers, compared with
/// NumPy.
@Suite struct ReferenceArrayPartTests {
  @Test func parts() throws {
    let golden = Goldens("parts", isExact: true)
    var slice = SliceStatic()
    slice.beginIds = [1, 0, -4]
    slice.beginMasks = [false, true, false]
    slice.endIds = [0, 0, -1]
    slice.endMasks = [true, true, false]
    slice.strides = [1, -2, 1]
    try golden.check(slice, ["x"], ["slice"])
    slice.beginIds = [1, 0, 2]
    slice.endMasks = [true, true, true]
    slice.strides = [1, 1, 1]
    slice.squeezeMasks = [true, false, false]
    try golden.check(slice, ["x"], ["squeezed"])
    var reverse = Reverse()
    reverse.reverseDim = [true, false, true]
    try golden.check(reverse, ["x"], ["reverse"])
    var windows = SlidingWindows()
    windows.axis = -1
    windows.windowSize = 3
    windows.step = 2
    try golden.check(windows, ["x"], ["windows"])
    var tile = Tile()
    tile.reps = [2, 1, 3]
    try golden.check(tile, ["x"], ["tile"])
    var pad = ConstantPad()
    pad.padAmounts = [1, 0, 0, 2, 2, 1]
    pad.value = 1.5
    try golden.check(pad, ["x"], ["pad"])
    pad.padAmounts = [0, 0, 7, 0, 0, 9]
    pad.value = 0
    pad.padToGivenOutputSizeMode = true
    try golden.check(pad, ["x"], ["to_size"])
    var stretch = BroadcastToStatic()
    stretch.targetShape = [2, 3, 4, 5]
    try golden.check(stretch, ["small"], ["broadcast"])
    try golden.check(BroadcastToLike(), ["small", "broadcast"], ["broadcast"])
  }

  @Test func constants() throws {
    let golden = Goldens("parts", isExact: true)
    try golden.check(GetShape(), ["x"], ["sizes"])
    var range = RangeStatic()
    range.startValue = -1
    range.endValue = 4
    range.stepSizeValue = 0.75
    try golden.check(range, [], ["range"])
    var fill = FillStatic()
    fill.targetShape = [2, 3]
    fill.value = 0.5
    try golden.check(fill, [], ["fill"])
    var like = FillLike()
    like.value = 0.5
    try golden.check(like, ["x"], ["like"])
    let constant = LoadConstantND(shape: [3, 4, 5], try golden.weights("x"))
    try golden.check(constant, [], ["x"])
  }

  @Test func gathering() throws {
    let golden = Goldens("gather", isExact: true)
    var gather = Gather()
    gather.axis = 1
    try golden.check(gather, ["x", "indices"], ["axis_1"])
    try golden.check(GatherND(), ["x", "places"], ["nd"])
    var along = GatherAlongAxis()
    along.axis = -1
    try golden.check(along, ["x", "along"], ["along_axis"])
    var embedding = EmbeddingND()
    embedding.vocabSize = 11
    embedding.embeddingSize = 7
    embedding.matrix = try golden.weights("table")
    embedding.hasBias = true
    embedding.bias = try golden.weights("bias")
    try golden.check(embedding, ["words"], ["embedding"])
    var oneHot = OneHot()
    oneHot.oneHotVectorSize = 4
    oneHot.axis = 1
    oneHot.onValue = 2
    oneHot.offValue = -1
    try golden.check(oneHot, ["labels"], ["one_hot"])
  }

  @Test func ordering() throws {
    let golden = Goldens("ordering", isExact: true)
    var largest = ArgMax()
    largest.axis = 1
    largest.removeDim = true
    try golden.check(largest, ["x"], ["argmax"])
    var smallest = ArgMin()
    smallest.axis = -1
    try golden.check(smallest, ["x"], ["argmin"])
    var top = TopK()
    top.axis = 1
    top.count = 2
    try golden.check(top, ["x"], ["top", "top_places"])
    top.axis = -1
    top.count = 3
    top.useBottomK = true
    try golden.check(top, ["x"], ["bottom"])
    var sort = ArgSort()
    try golden.check(sort, ["x"], ["argsort"])
    sort.axis = 1
    sort.descending = true
    try golden.check(sort, ["x"], ["descending"])
    var sum = CumSum()
    sum.axis = 1
    try golden.check(sum, ["x"], ["cumsum"])
    sum.excludeFinalSum = true
    try golden.check(sum, ["x"], ["exclusive"])
    sum.excludeFinalSum = false
    sum.reverse = true
    try golden.check(sum, ["x"], ["reversed"])
  }

  @Test func bands() throws {
    let golden = Goldens("band", isExact: true)
    var lower = LowerTriangular()
    lower.k = 1
    try golden.check(lower, ["x"], ["lower"])
    var upper = UpperTriangular()
    upper.k = -1
    try golden.check(upper, ["x"], ["upper"])
    var band = MatrixBandPart()
    band.numLower = 1
    band.numUpper = 2
    try golden.check(band, ["x"], ["band"])
    band.numLower = -3
    try golden.check(band, ["x"], ["all_lower"])
  }

  @Test func convolutions() throws {
    var golden = Goldens("conv3d", isExact: true)
    var layer = Convolution3D()
    (layer.outputChannels, layer.inputChannels, layer.nGroups) = (6, 4, 2)
    layer.window.kernel = [2, 3, 2]
    layer.window.stride = [2, 1, 2]
    layer.window.dilation = [1, 2, 1]
    layer.window.padding = [1, 0, 0, 2, 1, 1]
    layer.kernel = try golden.weights("weights")
    layer.hasBias = true
    layer.bias = try golden.weights("bias")
    try golden.check(layer, ["x"])
    golden = Goldens("deconv3d", isExact: true)
    layer = Convolution3D()
    (layer.outputChannels, layer.inputChannels) = (2, 3)
    layer.window.kernel = [3, 2, 3]
    layer.window.stride = [2, 2, 1]
    layer.isDeconvolution = true
    layer.kernel = try golden.weights("weights")
    try golden.check(layer, ["x"])
    layer.window.padding = [1, 0, 0, 1, 1, 1]
    try golden.check(layer, ["x"], ["cropped"])
  }

  @Test func poolings() throws {
    let golden = Goldens("pool3d", isExact: true)
    var layer = Pooling3D()
    layer.window.kernel = [2, 3, 2]
    layer.window.stride = [2, 1, 3]
    layer.window.paddingType = .valid
    try golden.check(layer, ["x"], ["max"])
    layer.type = .average
    try golden.check(layer, ["x"], ["mean"])
    layer.window.paddingType = .custom
    layer.window.padding = [1, 1, 0, 0, 1, 0]
    try golden.check(layer, ["x"], ["padded"])
    layer.countExcludePadding = true
    try golden.check(layer, ["x"], ["real"])
    var global = GlobalPooling3D()
    try golden.check(global, ["x"], ["global_max"])
    global.type = .average
    try golden.check(global, ["x"], ["global_mean"])
  }

  /// Four 2 × 2 boxes at (1, 1), (1.5, 1), (3, 1) and (1, 1.1). The intersection over union of the
  /// first and second is 3 / 5, of the second and third 1 / 7, of the first and fourth 3.8 / 4.2.
  @Test func suppression() throws {
    let boxes = ReferenceTensor(
      shape: [1, 4, 4], [1, 1, 2, 2, 1.5, 1, 2, 2, 3, 1, 2, 2, 1, 1.1, 2, 2])
    let scores = ReferenceTensor(
      shape: [1, 4, 2], [0.1, 0.9, 0.8, 0.2, 0.3, 0.6, 0.5, 0.7])
    var layer = NonMaximumSuppression()
    layer.iouThreshold = 0.5
    layer.scoreThreshold = 0.55
    layer.maxBoxes = 3
    var outputs = try layer.referenceOutputs([boxes, scores], ReferenceSettings())
    #expect(outputs[2].elements == [0, 2, -1])
    #expect(outputs[3].elements == [2])
    #expect(outputs[0].elements == [1, 1, 2, 2, 3, 1, 2, 2, 0, 0, 0, 0])
    #expect(outputs[1].elements == [0.1, 0.9, 0.3, 0.6, 0, 0])
    // Only the second box belongs to the first class.
    layer.perClassSuppression = true
    outputs = try layer.referenceOutputs([boxes, scores], ReferenceSettings())
    #expect(outputs[2].elements == [0, 1, 2])
    // With a lower threshold, 3 / 5 suppresses the second box; the best box is always kept.
    layer.perClassSuppression = false
    layer.iouThreshold = 0.65
    layer.scoreThreshold = 0
    outputs = try layer.referenceOutputs([boxes, scores], ReferenceSettings())
    #expect(outputs[2].elements == [0, 1, 2])
    layer.scoreThreshold = 2
    outputs = try layer.referenceOutputs([boxes, scores], ReferenceSettings())
    #expect(outputs[2].elements == [0, -1, -1])
  }
}
