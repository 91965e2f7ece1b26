import CoreMLModel
import TensorCore
import Testing

@testable import Engine

/// Reference implementation and engine compared with NumPy where points, windows, indices and ties
/// are error-prone, so that they cannot share a bug.
@Suite struct WindowGoldenTests {
  /// |a − b| ≤ 1e-5 · max |b|, because inputs and goldens are rounded to single precision.
  private func check(
    _ layer: any ReferenceLayer, _ inputs: [ReferenceTensor], _ expected: [ReferenceTensor],
    _ label: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let trial = LayerTrial(label, layer, inputs.map(\.shape))
    var options = CompileOptions()
    var tensors: [String: Tensor] = [:]
    for (index, input) in inputs.enumerated() {
      tensors["in\(index)"] = input.tensor
      options.inputShapes["in\(index)"] = input.shape
    }
    let model = try EngineAgreementTests.model(of: trial)
    let engine = try CompiledNetwork(model: model, options: options).predict(tensors)
    let twin = try layer.referenceOutputs(inputs, ReferenceSettings())
    for (index, b) in expected.enumerated() {
      let largest = b.elements.reduce(1) { max($0, abs($1)) }
      for (name, a) in [("twin", twin[index]), ("engine", engine["out\(index)"].map { .init($0) })]
        as [(String, ReferenceTensor?)]
      {
        #expect(a?.shape == b.shape, "\(label): \(name)", sourceLocation: sourceLocation)
        let isNear = zip(a?.elements ?? [], b.elements).allSatisfy {
          abs($0 - $1) <= 1e-5 * largest
        }
        #expect(isNear, "\(label): \(name)", sourceLocation: sourceLocation)
      }
    }
  }

  @Test(arguments: SamplingMethod.allCases)
  func resize(method: SamplingMethod) throws {
    let input = try Goldens.windows("resize").tensor("input")
    for size in [[9, 3], [1, 6], [5, 1], [2, 4]] {
      var layer = ResizeBilinear()
      layer.targetSize = size
      layer.mode = method
      let golden = Goldens.windows("resize_\(method.rawValue)_\(size[0])_\(size[1])")
      try check(layer, [input], [golden.tensor("output")], "\(method) to \(size)")
    }
  }

  @Test(arguments: SamplingMethod.allCases, CropResize.BoxCoordinates.allCases)
  func crop(method: SamplingMethod, coordinates: CropResize.BoxCoordinates) throws {
    let image = try Goldens.windows("crop").tensor("input")
    let boxes = Goldens.windows("boxes_\(coordinates.rawValue)")
    for size in [[3, 4], [1, 1]] {
      let expected = try Goldens.windows("crop_\(method.rawValue)_\(size[0])").tensor("output")
      for (kind, scale) in [("pixels", 0), ("halves", 0.5), ("normalized", 1)] as [(String, Float)]
      {
        var layer = CropResize()
        layer.targetSize = size
        layer.mode = method
        layer.boxIndicesMode = coordinates
        layer.spatialScale = scale
        layer.normalizedCoordinates = kind == "normalized"
        let numbers = try boxes.tensor(kind)
        let label = "\(method), \(coordinates), \(kind), \(size)"
        try check(layer, [image, numbers.reshaped([5, 1, 4, 1, 1])], [expected], label)
        // The same boxes, each from one image.
        let named = (0..<5).flatMap { box -> [Double] in
          let corners: ArraySlice<Double> = numbers.elements[4 * box..<4 * box + 4]
          return [Double(box % 3)] + corners
        }
        let length = expected.elements.count / 15
        let chosen = (0..<5).flatMap { box -> ArraySlice<Double> in
          let start = (box * 3 + box % 3) * length
          return expected.elements[start..<start + length]
        }
        try check(
          layer, [image, ReferenceTensor(shape: [5, 1, 5, 1, 1], named)],
          [ReferenceTensor(shape: [5, 1] + Array(expected.shape[2...]), chosen)], label + ", named")
      }
    }
  }

  @Test func fractionalUpsampling() throws {
    let input = try Goldens.windows("upsample").tensor("input")
    for (factors, name) in [([1.5, 2.25], "6_11"), ([0.5, 3], "2_15"), ([2.3, 0.2], "9_1")]
      as [([Float], String)]
    {
      let golden = Goldens.windows("upsample_" + name)
      var layer = Upsample()
      layer.fractionalScalingFactor = factors
      try check(layer, [input], [golden.tensor("nearest")], "\(factors), nearest")
      layer.mode = .bilinear
      for (mode, key) in zip(
        Upsample.LinearUpsampleMode.allCases, ["default", "align_true", "align_false"])
      {
        layer.linearUpsampleMode = mode
        try check(layer, [input], [golden.tensor(key)], "\(factors), \(mode)")
      }
    }
  }

  @Test func samePaddingOfThreeDimensions() throws {
    var golden = Goldens.windows("pool3d_same")
    var pooling = Pooling3D()
    pooling.window.kernel = [2, 4, 3]
    pooling.window.stride = [1, 3, 2]
    pooling.window.paddingType = .same
    try check(pooling, [golden.tensor("x")], [golden.tensor("max")], "maximum")
    pooling.type = .average
    try check(pooling, [golden.tensor("x")], [golden.tensor("mean")], "average")
    pooling.countExcludePadding = true
    try check(pooling, [golden.tensor("x")], [golden.tensor("real")], "without padding")
    golden = Goldens.windows("conv3d_same")
    var layer = Convolution3D()
    (layer.outputChannels, layer.inputChannels, layer.window.paddingType) = (3, 2, .same)
    layer.window.kernel = [2, 4, 3]
    layer.window.stride = [1, 3, 2]
    layer.window.dilation[0] = 2
    layer.kernel = try golden.weights("weights")
    try check(layer, [golden.tensor("x")], [golden.tensor("output")], "convolution")
    golden = Goldens.windows("deconv3d_same")
    layer.window.kernel = [3, 2, 4]
    layer.window.stride = [2, 3, 1]
    (layer.window.dilation[0], layer.isDeconvolution) = (0, true)
    layer.kernel = try golden.weights("weights")
    try check(layer, [golden.tensor("x")], [golden.tensor("output")], "deconvolution")
    layer.outputShape = [4, 7, 5]
    try check(layer, [golden.tensor("x")], [golden.tensor("shaped")], "to a shape")
  }

  /// Of equal elements, the one with the lower index comes first, in either order.
  @Test func ties() throws {
    let golden = Goldens.windows("ties")
    let x = try golden.tensor("x")
    func expected(_ keys: String...) throws -> [ReferenceTensor] { try keys.map(golden.tensor) }
    var largest = ArgMax()
    largest.axis = -2
    try check(largest, [x], expected("argmax"), "largest")
    var smallest = ArgMin()
    smallest.axis = 1
    try check(smallest, [x], expected("argmin"), "smallest")
    var sort = ArgSort()
    sort.axis = 1
    try check(sort, [x], expected("ascending"), "ascending")
    sort.descending = true
    try check(sort, [x], expected("descending"), "descending")
    var top = TopK()
    (top.axis, top.count) = (1, 4)
    try check(top, [x], expected("top", "top_places"), "top")
    top.useBottomK = true
    try check(top, [x], expected("bottom", "bottom_places"), "bottom")
  }

  /// Every slice of an axis of four elements that is not empty in Python.
  @Test func slices() throws {
    let rows = try Goldens.windows("slices").tensor("rows")
    let input = ReferenceTensor(shape: [4], [0, 1, 2, 3])
    for row in 0..<rows.shape[0] {
      let numbers: [Int?] = rows.elements[7 * row..<7 * row + 7].map { $0.isNaN ? nil : Int($0) }
      var layer = SliceStatic()
      (layer.beginIds, layer.beginMasks) = ([numbers[0] ?? 0], [numbers[0] == nil])
      (layer.endIds, layer.endMasks) = ([numbers[1] ?? 0], [numbers[1] == nil])
      layer.strides = [numbers[2] ?? 0]
      let places = numbers[3...].compactMap { $0.map(Double.init) }
      try check(
        layer, [input], [ReferenceTensor(shape: [places.count], places)], "\(numbers[..<3])")
    }
  }
}
