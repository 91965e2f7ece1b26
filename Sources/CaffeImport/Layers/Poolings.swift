import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// Maximum, average or Σx² / Σx over windows
  static let pooling = CaffeLayerType(
    SourceLayer(
      "Pooling",
      becomes:
        "pooling with includeLastPixel, Caffe's rounding of sizes; valid padding for `round_mode: FLOOR` "
        + "and `ceil_mode: false`; "
        + "STOCHASTIC as in Caffe's TEST phase: the average of the squares divided by the average",
      options: "`pool`, `kernel_size`, `stride`, `pad` with their `_h` and `_w`, `global_pooling`, "
        + "`round_mode`, `ceil_mode`; a second top (positions of the maxima) if windows do not overlap: "
        + "strided slices, compared with the maximum",
      refused:
        "a second top if windows overlap or have padding; STOCHASTIC on values that may be negative, "
        + "which are not probabilities")
  ) { layer, network in
    let input = try layer.onlyInput
    try layer.requireImages(input)
    let image = network.images(input, for: layer.name)
    let windows = try PoolingWindows(layer.parameters("pooling_param"), image)
    if windows.method == .stochastic { try network.requirePositive(image, layer) }
    if layer.tops.count > 1 {
      try layer.require(
        windows.method == .max, "it has \(layer.tops.count) tops; only MAX pooling has a mask")
      return try PoolingIndices.convert(layer, image, windows, &network)
    }
    return [try network.pooled(image, windows, layer.name, to: layer.tops[0])]
  }

  /// Pooling into 1, 4, 16, … bins, concatenated
  static let spp = single(
    SourceLayer(
      "SPP", becomes: "pooling and flatten for each level, concat",
      options: "`pyramid_height`, `pool`")
  ) { layer, network in
    let input = layer.input
    try layer.requireImages(input)
    let parameters = layer.parameters("spp_param")
    let height = try parameters.int("pyramid_height", atLeast: 1, atMost: 16)
    let method = try parameters.choice("pool", of: PoolingWindows.Method.names)
    let image = network.images(input, for: layer.name)
    if method == .stochastic { try network.requirePositive(image, layer) }
    let extents = Array(input.shape.suffix(2))
    var parts: [String] = []
    var count = 0
    for level in 0..<height {
      let bins = 1 << level
      let kernel = extents.map { ($0 + bins - 1) / bins }
      let padding = zip(kernel, extents).map { ($0 * bins - $1 + 1) / 2 }
      var windows = PoolingWindows(method: method, kernel: kernel, stride: kernel, padding: padding)
      try windows.fit(extents, layer)
      let pooled = try network.pooled(image, windows, layer.part("level\(level)"))
      parts.append(network.add(layer.part("flatten\(level)"), Flatten(), [pooled.blob]))
      count += try checkedProduct(Array(pooled.shape[1...]))
    }
    let top = layer.tops[0]
    let result =
      parts.count == 1
      ? network.add(layer.name, Activation(.linear(alpha: 1, beta: 0)), parts, to: top)
      : network.joined(parts, alongSequence: false, layer.name, to: top)
    return CaffeTensor(result, [input.shape[0], count], axes: [image.axes[0], Placement.channel])
  }

  /// Repeats every element, or, with two bottoms, moves every element to the position of its window's
  /// maximum
  static let upsample = CaffeLayerType(
    SourceLayer(
      "Upsample", "Unpooling",
      becomes:
        "upsample; with the mask of a pooling layer, products with its planes, concat, reorganizeData",
      options:
        "`scale`, `scale_h`, `scale_w`, `upsample_h`, `upsample_w`, `pad_out_h`, `pad_out_w`",
      refused: "a mask that is not the second top of a pooling layer of the same size")
  ) { layer, network in
    try layer.requireBottoms(1...2)
    let input = layer.inputs[0]
    try layer.requireImages(input)
    let image = network.images(input, for: layer.name)
    let size = try upsampledSize(layer, image)
    if layer.inputs.count == 2 {
      return [try unpooled(layer, image, layer.inputs[1], size, &network)]
    }
    let extents = image.shape.suffix(2)
    try layer.require(
      zip(size, extents).allSatisfy({ $0 % $1 == 0 }),
      unsupported: "\(extents.map { $0 }) to \(size) without a mask", field: "upsample_param",
      hint: "integer multiples are supported")
    var upsample = CoreMLModel.Upsample()
    upsample.scalingFactor = zip(size, extents).map { $0 / $1 }
    upsample.mode = .nearest
    return [network.add(upsample, image, as: layer, shape: Array(image.shape.prefix(2)) + size)]
  }

  private static func upsampledSize(_ layer: LayerCall, _ image: CaffeTensor) throws -> [Int] {
    let parameters = layer.parameters(
      layer.type == "Unpooling" ? "unpooling_param" : "upsample_param")
    let extents = Array(image.shape.suffix(2))
    for fields in [["upsample_h", "upsample_w"], ["out_height", "out_width"]]
    where fields.allSatisfy(parameters.has) {
      return try fields.map { try parameters.int($0, atLeast: 1) }
    }
    let scale = try parameters.int("scale", default: 2, atLeast: 1)
    return try zip(["h", "w"], extents).map { side, extent in
      let factor = try parameters.int("scale_\(side)", default: scale, atLeast: 1)
      let isShorter = try parameters.bool("pad_out_\(side)", default: false)
      return try checkedProduct([extent, factor], limit: Limits.dimension) - (isShorter ? 1 : 0)
    }
  }

  private static func unpooled(
    _ layer: LayerCall, _ image: CaffeTensor, _ mask: CaffeTensor, _ size: [Int],
    _ network: inout CaffeWriter
  ) throws -> CaffeTensor {
    guard let maxima = mask.maxima, maxima.extents == size, mask.shape == image.shape else {
      throw layer.unsupported(
        "its mask does not come from a pooling layer of \(size[0]) × \(size[1])", field: "bottom",
        hint: "Core ML has no such scatter layer; use a custom layer")
    }
    guard maxima.kernel[0] == maxima.kernel[1], maxima.kernel[0] > 1 else {
      throw layer.unsupported("windows of \(maxima.kernel) are not supported", field: "bottom")
    }
    let channels = image.shape[1]
    let parts = (0..<maxima.kernel[0] * maxima.kernel[1]).map { index in
      let plane = network.slice(
        maxima.blob, index * channels..<(index + 1) * channels, layer.part("plane\(index)"))
      return network.product(image.blob, plane, layer.part("placed\(index)"))
    }
    let stack = network.joined(parts, alongSequence: false, layer.part("planes"))
    var reorganize = ReorganizeData()
    reorganize.mode = .depthToSpace
    reorganize.blockSize = maxima.kernel[0]
    let whole = image.shape.suffix(2).map { $0 * maxima.kernel[0] }
    let shape = Array(image.shape.prefix(2)) + size
    if whole == size {
      return image.with(
        network.add(layer.name, reorganize, [stack], to: layer.tops[0]), shape: shape)
    }
    let spread = network.add(layer.part("spread"), reorganize, [stack])
    var crop = Crop()
    crop.cropAmounts = BorderAmounts(
      top: 0, bottom: whole[0] - size[0], left: 0, right: whole[1] - size[1])
    return image.with(network.add(layer.name, crop, [spread], to: layer.tops[0]), shape: shape)
  }
}

/// The windows of a pooling layer over its bottom.
struct PoolingWindows: Sendable {
  enum Method: Sendable {
    case max
    case average
    /// A random choice in training.
    case stochastic

    static let names: KeyValuePairs = ["MAX": max, "AVE": average, "STOCHASTIC": stochastic]
  }

  let method: Method
  let kernel: [Int]
  let stride: [Int]
  let padding: [Int]
  var isGlobal = false
  var roundsDown = false
  /// Spatial sizes of the output.
  private(set) var size: [Int] = []
}

extension PoolingWindows {
  init(_ parameters: CaffeParameters, _ input: CaffeTensor) throws {
    let method = try parameters.choice("pool", of: Method.names)
    let extents = Array(input.shape.suffix(2))
    let isGlobal = try parameters.bool("global_pooling")
    var kernel = extents
    if isGlobal {
      try parameters.require(
        !parameters.has("kernel_size") && !parameters.has("kernel_h")
          && !parameters.has("kernel_w"), "global_pooling", "global_pooling excludes a kernel size")
    } else {
      kernel = try parameters.pair("kernel_size", "kernel", atLeast: 1)
    }
    let stride = try parameters.pair("stride", default: 1, atLeast: 1)
    let padding = try parameters.pair("pad", default: 0)
    try parameters.require(
      padding == [0, 0] || method != .stochastic, "pad",
      "padding \(padding) is not supported with STOCHASTIC")
    guard zip(padding, kernel).allSatisfy({ $0 < $1 }) else {
      throw parameters.error("pad", "padding \(padding) must be less than the kernel, \(kernel)")
    }
    guard !isGlobal || (padding == [0, 0] && stride == [1, 1]) else {
      throw parameters.error("global_pooling", "global_pooling excludes padding and strides")
    }
    let roundsDown = try parameters.choice("round_mode", of: ["CEIL": false, "FLOOR": true])
    if parameters.has("round_mode"), parameters.has("ceil_mode"),
      try roundsDown == parameters.bool("ceil_mode")
    {
      throw parameters.error("ceil_mode", "it contradicts round_mode")
    }
    self.init(
      method: method, kernel: kernel, stride: stride, padding: padding, isGlobal: isGlobal,
      roundsDown: try roundsDown || !parameters.bool("ceil_mode"))
    try fit(extents, parameters.layer)
  }

  /// Computes the size for a bottom with these spatial sizes.
  mutating func fit(_ extents: [Int], _ layer: LayerCall) throws {
    size = try (0..<2).map { axis in
      let rest = extents[axis] + 2 * padding[axis] - kernel[axis]
      guard rest >= 0 else {
        throw layer.error(
          "a window of \(kernel[0]) × \(kernel[1]) does not fit its bottom's "
            + "\(extents[0]) × \(extents[1])", hint: "or its padding of \(padding)")
      }
      let count = (roundsDown ? rest : rest + stride[axis] - 1) / stride[axis] + 1
      // With padding, no window starts in the padding after the image.
      let begins = (count - 1) * stride[axis] >= extents[axis] + padding[axis]
      return padding != [0, 0] && begins ? count - 1 : count
    }
  }
}

extension CaffeWriter {
  /// Refuses a tensor that may contain negative values.
  mutating func requirePositive(_ tensor: CaffeTensor, _ layer: LayerCall) throws {
    try layer.require(
      isPositive(tensor.blob, depth: 0),
      unsupported:
        "STOCHASTIC treats values as probabilities, but the bottom may contain negative values",
      field: "pool", hint: "insert a ReLU before it")
  }

  private func isPositive(_ blob: String, depth: Int) -> Bool {
    guard depth < 64, let layer = layers.last(where: { $0.output.contains(blob) }) else {
      return false
    }
    var isPositive: Bool? {
      switch layer.parameters {
      case let activation as Activation: activation.function?.isNonnegative == true
      case let unary as Unary: unary.type == .abs || unary.type == .exp
      case is Softmax: true
      case is Pooling, is LRN, is Concat, is Flatten, is Permute, is CoreMLModel.Reshape: nil
      default: false
      }
    }
    return isPositive ?? layer.input.allSatisfy { self.isPositive($0, depth: depth + 1) }
  }

  /// - Parameter input: a tensor with its spatial axes in H and W.
  mutating func pooled(
    _ input: CaffeTensor, _ windows: PoolingWindows, _ name: String, to output: String? = nil
  ) throws -> CaffeTensor {
    var pooling = Pooling()
    pooling.type = windows.method == .max ? .max : .average
    pooling.kernelSize = windows.isGlobal ? [0, 0] : windows.kernel
    pooling.stride = windows.stride
    pooling.globalPooling = windows.isGlobal
    if windows.roundsDown {
      var valid = ValidPadding()
      valid.paddingAmounts = BorderAmounts(
        top: windows.padding[0], bottom: windows.padding[0], left: windows.padding[1],
        right: windows.padding[1])
      pooling.padding = .valid(valid)
    } else {
      var complete = ValidCompletePadding()
      complete.paddingAmounts = windows.padding
      pooling.padding = .includeLastPixel(complete)
    }
    let shape = Array(input.shape.dropLast(2)) + windows.size
    guard windows.method == .stochastic else {
      return input.with(add(name, pooling, [input.blob], to: output), shape: shape)
    }
    // Σx² / Σx, or 0 unless Σx is positive: a · max(b, 0) / (max(b, 0)² + ε)
    let squares = product(input.blob, input.blob, name + "_squares")
    let a = add(name + "_numerator", pooling, [squares])
    let b = add(name + "_denominator", pooling, [input.blob])
    let positive = add(name + "_positive", Activation(.relu), [b])
    let squared = product(positive, positive, name + "_squared")
    let inverse = unary(.inverse, squared, name + "_inverse", epsilon: 1e-30)
    let result = add(name, Multiply(), [a, positive, inverse], to: output)
    return input.with(result, shape: shape)
  }
}
