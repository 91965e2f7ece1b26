import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// Σ weights · window + bias
  static let convolution = CaffeLayerType(
    SourceLayer(
      "Convolution",
      becomes:
        "convolution; with three axes, slices along the first axis, stacked as channels, and one "
        + "convolution",
      options:
        "`num_output`, `bias_term`, `group`, `kernel_size`, `stride`, `pad`, `dilation` with one number, "
        + "one per axis, or `_h` and `_w`; `axis`; kernels of one, two and three axes",
      refused: "more than three spatial axes: Core ML has no such kernels")
  ) { layer, network in
    try convolutions(layer, .plain, &network)
  }.withInputAxes { _, _, shape in
    switch shape.count {
    case 3: [1, 2, 4]
    case 5 where shape[0] == 1 && shape[1] != 1: [1, 2, 0, 3, 4]
    default: nil
    }
  }

  private static func convolutions(
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

  /// A convolution with one group per channel.
  static let depthwiseConvolution = CaffeLayerType(
    SourceLayer(
      "DepthwiseConvolution", "ConvolutionDepthwise",
      becomes: "convolution with one group per channel", options: "those of Convolution")
  ) { layer, network in
    try convolutions(layer, .depthwise, &network)
  }

  /// The transpose of a convolution.
  static let deconvolution = single(
    SourceLayer(
      "Deconvolution",
      becomes: "convolution with isDeconvolution; with three axes convolution3d (specification 5)",
      options: "those of Convolution; `dilation`: a kernel with zeros in between",
      refused: "dilation or several groups, with a kernel of three axes")
  ) { layer, network in
    let input = layer.input
    let settings = try ConvolutionSettings(layer, input)
    let shape = try settings.outputShape(input, isDeconvolution: true)
    if settings.dimensions == 3 { return try settings.volume(input, shape, &network) }
    let image = try settings.placed(input, &network)
    let ones = settings.kernel.map { _ in 1 }
    var convolution = settings.convolution(
      kernel: try settings.extents, stride: settings.stride, padding: settings.padding,
      dilation: ones)
    convolution.isDeconvolution = true
    convolution.kernelChannels = settings.channels
    convolution.kernel = Weights(try settings.spreadWeights())
    convolution.bias = try settings.bias()
    return network.add(convolution, image, as: layer, shape: shape)
  }.withInputAxes(convolution.inputAxes)

  /// The elements of every window as C · kh · kw channels.
  static let im2col = single(
    SourceLayer(
      "Im2col", becomes: "convolution with one group per channel and unit kernels",
      options: "`kernel_size`, `stride`, `pad`, `dilation`, `axis`; one and two axes",
      refused: "kernels of three axes")
  ) { layer, network in
    let input = layer.input
    let settings = try ConvolutionSettings(layer, input, .unfolding)
    try layer.require(
      settings.dimensions <= 2, unsupported: "windows with three axes are not supported",
      field: "convolution_param.kernel_size")
    let image = try settings.placed(input, &network)
    var convolution = settings.convolution(
      kernel: settings.kernel, stride: settings.stride, padding: settings.padding,
      dilation: settings.dilation)
    let area = settings.kernel.reduce(1, *)
    var units = [Float](
      repeating: 0,
      count: try computedCount([settings.outputs, area], limit: Limits.computedElements))
    for output in 0..<settings.outputs { units[output * area + output % area] = 1 }
    convolution.kernel = Weights(units)
    return network.add(
      convolution, image, as: layer, shape: try settings.outputShape(input, isDeconvolution: false))
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

  /// The kernel with zeros in its gaps, because Core ML's deconvolution does not support dilation.
  fileprivate func spreadWeights() throws -> FloatValues {
    let weights = try weights(isDeconvolution: true)
    if dilation.allSatisfy({ $0 == 1 }) { return weights }
    let source = try weights.array()
    let extents = try extents
    let (rows, columns) = dimensions == 1 ? (1, kernel[0]) : (kernel[0], kernel[1])
    let (down, across) = dimensions == 1 ? (1, dilation[0]) : (dilation[0], dilation[1])
    let (height, width) = dimensions == 1 ? (1, extents[0]) : (extents[0], extents[1])
    let pairs = source.count / (rows * columns)
    var result = [Float](
      repeating: 0,
      count: try computedCount([pairs, height, width], limit: Limits.computedElements))
    for pair in 0..<pairs {
      for row in 0..<rows {
        for column in 0..<columns {
          result[(pair * height + row * down) * width + column * across] =
            source[(pair * rows + row) * columns + column]
        }
      }
    }
    return FloatValues(result)
  }

  fileprivate func volume(
    _ input: CaffeTensor, _ shape: [Int], _ network: inout CaffeWriter
  ) throws -> CaffeTensor {
    try layer.require(
      groups == 1 && dilation == [1, 1, 1] && channelAxis == 1,
      unsupported: "a deconvolution of three axes with \(groups) groups, dilation \(dilation)",
      field: "convolution_param")
    let volume = network.placed(input, axes: [0, 1, 2, 3, 4], for: layer.name)
    var convolution = Convolution3D()
    convolution.outputChannels = outputs
    convolution.inputChannels = channels
    convolution.nGroups = 1
    convolution.window.kernel = kernel
    convolution.window.stride = stride
    convolution.window.dilation = [1, 1, 1]
    convolution.window.padding = padding.flatMap { [$0, $0] }
    convolution.isDeconvolution = true
    convolution.hasBias = hasBias
    convolution.kernel = Weights(try weights(isDeconvolution: true))
    convolution.bias = try bias()
    return network.add(convolution, volume, as: layer, shape: shape)
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
