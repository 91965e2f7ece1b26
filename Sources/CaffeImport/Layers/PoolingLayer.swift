import CoreMLModel
import ImportSupport
import TensorCore

/// Maximum, average or Σx² / Σx over windows
enum PoolingLayer: CaffeLayerConverter {
  static let source = SourceLayer(
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

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
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
}

/// The windows of a pooling layer over its bottom.
struct PoolingWindows: Sendable {
  enum Method: String, Sendable {
    case max = "MAX"
    case average = "AVE"
    /// A random choice in training.
    case stochastic = "STOCHASTIC"
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
    let name = try parameters.symbol("pool")
    let method = try Method(rawValue: name).orThrow(parameters.unsupported("pool", name))
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
    let roundsDown = try parameters.symbol("round_mode") == "FLOOR"
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
