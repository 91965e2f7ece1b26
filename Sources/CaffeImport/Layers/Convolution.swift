import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

/// Σ weights · window + bias
enum ConvolutionLayer: CaffeLayerConverter {
  static let source = SourceLayer(
    "Convolution",
    becomes:
      "convolution; with three axes, slices along the first axis, stacked as channels, and one "
      + "convolution",
    options:
      "`num_output`, `bias_term`, `group`, `kernel_size`, `stride`, `pad`, `dilation` with one number, "
      + "one per axis, or `_h` and `_w`; `axis`; kernels of one, two and three axes",
    refused: "more than three spatial axes: Core ML has no such kernels")

  static func inputAxes(_ layer: LayerCall, bottom index: Int, shape: [Int]) -> [Int]? {
    switch shape.count {
    case 3: [1, 2, 4]
    case 5 where shape[0] == 1 && shape[1] != 1: [1, 2, 0, 3, 4]
    default: nil
    }
  }

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try convert(layer, .plain, &network)
  }

  static func convert(
    _ layer: LayerCall, _ kind: ConvolutionSettings.Kind, _ network: inout CaffeWriter
  ) throws -> [CaffeTensor] {
    let inputs = layer.inputs
    // Several pairs of bottoms and tops share the weights.
    try layer.require(
      inputs.count == layer.tops.count && !inputs.isEmpty,
      "it has \(counted(inputs.count, "bottom")) and \(counted(layer.tops.count, "top")); the counts must be equal",
      field: "bottom")
    return try inputs.indices.map { index in
      let settings = try ConvolutionSettings(layer, inputs[index], kind)
      let name = index == 0 ? layer.name : layer.part("\(index)")
      return settings.dimensions == 3
        ? try settings.volume(inputs[index], name, to: layer.tops[index], &network)
        : try settings.image(inputs[index], name, to: layer.tops[index], &network)
    }
  }
}

/// A convolution with one group per channel.
enum DepthwiseConvolution: CaffeLayerConverter {
  static let source = SourceLayer(
    "DepthwiseConvolution", "ConvolutionDepthwise",
    becomes: "convolution with one group per channel", options: "those of Convolution")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try ConvolutionLayer.convert(layer, .depthwise, &network)
  }
}

extension ConvolutionSettings {
  fileprivate func image(
    _ input: CaffeTensor, _ name: String, to top: String, _ network: inout CaffeWriter
  ) throws -> CaffeTensor {
    let shape = try outputShape(input, isDeconvolution: false)
    let image = try placed(input, &network)
    var convolution = convolution(
      kernel: kernel, stride: stride, padding: padding, dilation: dilation)
    convolution.kernel = Weights(try weights(isDeconvolution: false))
    convolution.bias = try bias()
    return image.with(network.add(name, convolution, [image.blob], to: top), shape: shape)
  }

  /// Each output plane depends on some planes of the input. They become the channels of one
  /// convolution, and the output planes its batch items.
  fileprivate func volume(
    _ input: CaffeTensor, _ name: String, to top: String, _ network: inout CaffeWriter
  ) throws -> CaffeTensor {
    let shape = try outputShape(input, isDeconvolution: false)
    let depth = input.shape[channelAxis + 1]
    let planes = shape[channelAxis + 1]
    try layer.require(
      checkedProduct([planes, kernel[0]]) <= Limits.writtenOutSteps,
      unsupported:
        "unrolling would give \(planes) output planes, each computed from \(kernel[0]) input planes"
    )
    try layer.require(
      input.shape[..<channelAxis].allSatisfy({ $0 == 1 }),
      unsupported: "a kernel of three axes on a batch of several items, \(input.shapeText)")
    // The planes are stacked as channels, with the channels of each plane adjacent.
    let tensor = network.five(input, for: layer.name)
    let source = network.placed(
      CaffeTensor(
        tensor.blob, Array(tensor.shape[channelAxis...]), axes: Array(tensor.axes[channelAxis...])),
      axes: [2, 0, 3, 4], for: layer.name)
    var reshape = Reshape()
    let (height, width) = (input.shape[channelAxis + 2], input.shape[channelAxis + 3])
    let stacked = try checkedProduct([depth, channels], limit: Limits.dimension)
    reshape.targetShape = [1, stacked, height, width]
    var stack = network.add(layer.part("planes"), reshape, [source.blob])
    var padded = depth
    if padding[0] > 0 {
      let zeros = try network.constant(
        [channels * padding[0], height, width], value: 0, layer.part("zeros"))
      stack = network.joined([zeros, stack, zeros], alongSequence: false, layer.part("padded"))
      padded += 2 * padding[0]
    }
    let windows = (0..<planes).map { step in
      let first = step * stride[0]
      let parts = (0..<kernel[0]).map { first + $0 * dilation[0] }
      if dilation[0] == 1 {
        let range = first * channels..<(first + kernel[0]) * channels
        return range.count == padded * channels
          ? stack : network.slice(stack, range, layer.part("window\(step)"))
      }
      let slices = parts.map {
        network.slice(stack, $0 * channels..<($0 + 1) * channels, layer.part("window\(step)_\($0)"))
      }
      return network.joined(slices, alongSequence: false, layer.part("window\(step)"))
    }
    let items = network.joined(windows, alongSequence: true, layer.part("windows"))
    var convolution = convolution(
      kernel: Array(kernel[1...]), stride: Array(stride[1...]), padding: Array(padding[1...]),
      dilation: Array(dilation[1...]))
    convolution.kernelChannels = try checkedProduct([channels, kernel[0]], limit: Limits.dimension)
    convolution.nGroups = 1
    // [outputs, C, D, H, W] to [outputs, D · C, H, W]
    convolution.kernel = Weights(try denseWeights().transposed([0, 2, 1, 3, 4]))
    convolution.bias = try bias()
    let result = network.add(name, convolution, [items], to: top)
    let leading = CaffeTensor.leadingAxes(channelAxis)
    return CaffeTensor(result, shape, axes: leading + [2, 0, 3, 4])
  }
}

extension CaffeTensor {
  /// The Core ML axes of leading axes of length 1, if an item uses all axes but the batch.
  static func leadingAxes(_ count: Int) -> [Int] { Array([Placement.batch].prefix(count)) }
}

extension CaffeWriter {
  /// A constant `[C, H, W]` filled with one value.
  mutating func constant(_ shape: [Int], value: Float, _ name: String) throws -> String {
    let count = try computedCount(shape, limit: Limits.computedElements)
    return constant(shape, FloatValues([Float](repeating: value, count: count)), name)
  }

  mutating func constant(
    _ shape: [Int], _ values: FloatValues, _ name: String, to output: String? = nil
  ) -> String {
    return add(
      name, LoadConstant().with(\.shape, shape).with(\.data, Weights(values)), [], to: output)
  }
}
