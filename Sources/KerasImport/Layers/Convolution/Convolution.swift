import CoreMLModel
import ImportSupport
import TensorCore

extension ValidPadding {
  /// No padding, written explicitly as coremltools does.
  static var none: ValidPadding {
    ValidPadding(BorderAmounts(top: 0, bottom: 0, left: 0, right: 0))
  }

  init(_ amounts: BorderAmounts) {
    self.init()
    paddingAmounts = amounts
  }
}

extension LayerConfiguration.Border {
  var convolutionPadding: Convolution.Padding {
    self == .same ? .same(SamePadding()) : .valid(.none)
  }

  var poolingPadding: Pooling.Padding { self == .same ? .same(SamePadding()) : .valid(.none) }

  /// The output length for a window of `extent` elements. Causal padding adds `extent` − 1 zeros
  /// before the first step.
  func length(_ input: Int?, extent: Int, stride: Int) -> Int? {
    guard let input else { return nil }
    return self == .same || self == .causal
      ? (input + stride - 1) / stride : max(0, input - extent + stride) / stride
  }

  /// The output length of a transposed convolution.
  func transposedLength(_ input: Int, extent: Int, stride: Int, outputPadding: Int?) -> Int {
    guard let outputPadding else {
      return self == .same ? input * stride : input * stride + max(extent - stride, 0)
    }
    let pad = self == .same ? extent / 2 : 0
    return (input - 1) * stride + extent - 2 * pad + outputPadding
  }
}

/// Settings that convolutions share.
struct ConvolutionSettings: Sendable {
  let axes: SpatialAxes
  let kernelSize: [Int]
  let strides: [Int]
  let dilation: [Int]
  let border: LayerConfiguration.Border
  let hasBias: Bool
  let activation: ActivationFunction
  /// Keras 1 stores kernel axes in Theano's order if `dim_ordering` is `th`.
  let isTheanoKernel: Bool
  /// Whether the training framework, Theano, flips the kernel.
  private let isRotated: Bool

  /// Keras 1's names for the kernel sizes.
  private static let kernelFields = [
    ["filter_length"], ["nb_row", "nb_col"], ["kernel_dim1", "kernel_dim2", "kernel_dim3"],
  ]

  init(_ configuration: LayerConfiguration, allowsCausal: Bool = false) throws {
    axes = try SpatialAxes(configuration)
    let count = axes.count
    let fields = Self.kernelFields[count - 1]
    kernelSize =
      configuration.field(fields[0]) == nil
      ? try configuration.sizes("kernel_size", count: count)
      : try fields.map { try configuration.int($0) }
    let ones = [Int](repeating: 1, count: count)
    strides = try configuration.sizes(
      "strides", "subsample_length", "subsample", count: count, default: ones)
    dilation = try configuration.sizes("dilation_rate", "atrous_rate", count: count, default: ones)
    try configuration.require(
      strides.max() == 1 || dilation.max() == 1 || !configuration.kind.hasPrefix("Conv")
        || !configuration.version.isAtLeast(3, 0),
      "dilation_rate", unsupported: "Keras refuses \(dilation) with strides \(strides)")
    border = try configuration.border(
      allowing: [.valid, .same] + (allowsCausal && count == 1 ? [.causal] : []))
    hasBias = try configuration.bool("use_bias", "bias", default: true)
    activation = try ActivationFunction(configuration)
    isTheanoKernel =
      count > 1 && configuration["dim_ordering"] != nil && axes.format == .channelsFirst
    isRotated = configuration.version.backend == "theano"
  }

  /// The extents of the dilated kernel.
  var extents: [Int] { zip(kernelSize, dilation).map { ($0 - 1) * $1 + 1 } }

  func slots(_ kernels: String...) -> [WeightSlot] {
    kernels.map { WeightSlot($0) } + WeightSlot.named(hasBias ? "bias" : nil)
  }

  func bias(_ call: LayerCall, _ filters: Int) throws -> Weights? {
    hasBias ? Weights(try call.weight("bias", [filters])) : nil
  }

  /// The output tensor of a convolution of `input`.
  func output(_ input: KerasTensor, filters: Int, _ call: LayerCall) throws -> KerasTensor {
    let lengths = axes.lengths(input).enumerated().map { axis, length in
      border.length(length, extent: extents[axis], stride: strides[axis])
    }
    try call.require(
      !lengths.contains(0) || input.isShapeAssumed,
      "its input \(input.shapeText) is smaller than its kernel of \(KerasTensor.product(extents))")
    return axes.resized(input, to: lengths, channels: filters)
  }

  /// The input blob, preceded by zeros for causal padding.
  func padded(_ input: KerasTensor, _ call: LayerCall, _ network: inout KerasWriter) -> String {
    guard border == .causal else { return input.blob }
    let amounts = BorderAmounts(top: 0, bottom: 0, left: extents[0] - 1, right: 0)
    return network.add(
      call.name + "__causal_pad__", Padding(.constant(value: 0), amounts), [input.blob],
      to: input.blob + "__causal_pad__")
  }

  /// Height and width for Core ML's layer. Steps are along the width; depth has its own layer.
  func planar(_ numbers: [Int]) -> [Int] {
    numbers.count == 1 ? [1] + numbers : Array(numbers.suffix(2))
  }

  /// - Parameter kernel: `[outputs, inputs per group, height, width]`
  func convolution(_ kernel: FloatValues, groups: Int = 1, bias: Weights? = nil) -> Convolution {
    var convolution = Convolution(
      Weights(kernel), inputs: kernel.shape[1], outputs: kernel.shape[0],
      size: planar(kernelSize), bias: bias)
    convolution.nGroups = groups
    convolution.stride = planar(strides)
    convolution.dilationFactor = planar(dilation)
    convolution.padding = border.convolutionPadding
    return convolution
  }

  /// The kernel of a sequence or an image, `[outputs, inputs per group, height, width]`.
  func kernel(_ call: LayerCall, inputs: Int?, outputs: Int) throws -> FloatValues {
    if isTheanoKernel { return try theanoKernel(call, [outputs, inputs]) }
    // Keras 1 stores [k, 1, in, out] for sequences.
    let rank = call.weights.first { $0.name == "kernel" }?.shape.count
    let size: [Int?] = kernelSize + (axes.count == 1 && rank == 4 ? [1] : [])
    let stored = try flipped(call.weight("kernel", size + [inputs, outputs]))
    return stored.shaped(planar(kernelSize) + stored.shape.suffix(2)).transposed([3, 2, 0, 1])
  }

  /// The kernel in Theano's order: `leading`, then the sizes along the axes.
  func theanoKernel(_ call: LayerCall, _ leading: [Int?]) throws -> FloatValues {
    let stored = try call.weight("kernel", leading + kernelSize)
    guard isRotated else { return stored }
    let area = kernelSize.reduce(1, *)
    let source = try stored.array()
    return FloatValues(
      stride(from: 0, to: source.count, by: area).flatMap { source[$0..<$0 + area].reversed() }
    ).shaped(stored.shape)
  }

  /// The stored kernel, flipped along its leading, spatial axes if the training framework flips
  /// kernels.
  func flipped(_ stored: FloatValues) throws -> FloatValues {
    guard isRotated else { return stored }
    let area = kernelSize.reduce(1, *)
    let source = try stored.array()
    let inner = source.count / area
    return FloatValues(
      (0..<area).reversed().flatMap { source[$0 * inner..<($0 + 1) * inner] }
    ).shaped(stored.shape)
  }

  /// A convolution of each channel with the weight `depthwise_kernel`, `[size…, C, multiplier]`.
  func depthwise(_ call: LayerCall, _ input: KerasTensor, multiplier: Int) throws -> Convolution {
    let known = input.isShapeAssumed ? nil : input.size(of: .channel)
    var stored = try flipped(call.weight("depthwise_kernel", kernelSize + [known, multiplier]))
    stored = stored.shaped(planar(kernelSize) + stored.shape.suffix(2))
    let channels = stored.shape[2]
    let outputs = try checkedProduct([channels, multiplier], limit: Limits.dimension)
    let kernel = stored.shaped(planar(kernelSize) + [1, outputs]).transposed([3, 2, 0, 1])
    return convolution(kernel, groups: channels)
  }
}

extension LayerConfiguration {
  /// The number of channel groups, each with a separate convolution.
  func groups(of filters: Int) throws -> Int {
    let groups = try int("groups", default: 1)
    guard filters % groups == 0 else {
      throw unsupported("groups", "\(filters) filters are not divisible by \(groups) groups")
    }
    return groups
  }
}

extension Convolution {
  /// A convolution with stride 1, without dilation or padding; the kernel is `[outputs, inputs,
  /// height, width]`.
  init(_ kernel: Weights, inputs: Int, outputs: Int, size: [Int], bias: Weights? = nil) {
    self.init()
    outputChannels = outputs
    kernelChannels = inputs
    nGroups = 1
    kernelSize = size
    stride = [1, 1]
    dilationFactor = [1, 1]
    padding = .valid(.none)
    self.kernel = kernel
    hasBias = bias != nil
    self.bias = bias
  }

  /// A 1 × 1 convolution: a product with a matrix `[outputs, inputs]` at each position.
  static func pointwise(
    _ matrix: Weights, inputs: Int, outputs: Int, bias: Weights? = nil
  ) -> Convolution {
    Convolution(matrix, inputs: inputs, outputs: outputs, size: [1, 1], bias: bias)
  }
}

/// out = activation(kernel ∗ in + bias)
enum Conv: KerasLayer {
  static let classes = [
    SourceLayer(
      "Conv1D", "Convolution1D", "AtrousConvolution1D", "AtrousConv1D",
      becomes: "convolution along the width, wrapped in permutes",
      options: "`padding='causal'`: a padding layer first; `groups`"),
    SourceLayer(
      "Conv2D", "Convolution2D", "AtrousConvolution2D", "AtrousConv2D",
      "PatchConv2DWithResampleWeights", becomes: "convolution",
      options:
        "`strides`, `padding`, `dilation_rate`, `groups`, `use_bias`, \(SourceLayer.dataFormat)"),
  ]
  static let leadingAxes = LeadingAxesPolicy.steps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let filters = try configuration.int("filters", "nb_filter")
    let groups = try configuration.groups(of: filters)
    let settings = try ConvolutionSettings(configuration, allowsCausal: true)
    return conversion(settings.slots("kernel")) { call, network in
      let input = try settings.axes.input(call, &network)
      let channels = input.isShapeAssumed ? nil : input.size(of: .channel)
      let kernel = try settings.kernel(call, inputs: channels.map { $0 / groups }, outputs: filters)
      var output = try settings.output(input, filters: filters, call)
      let convolution = settings.convolution(
        kernel, groups: groups, bias: try settings.bias(call, filters))
      output.blob = network.add(call.name, convolution, [settings.padded(input, call, &network)])
      return [try network.activate(settings.activation, output, call)]
    }
  }
}

/// A separate convolution of each channel, with `depth_multiplier` outputs per channel.
enum DepthwiseConv: KerasLayer {
  static let classes = [SourceLayer](
    "DepthwiseConv2D", "DepthwiseConvolution2D", "DepthwiseConv1D", "DepthwiseConvolution1D",
    becomes: "convolution with one group per channel",
    options: "`depth_multiplier`, and those of Conv2D")
  static let leadingAxes = LeadingAxesPolicy.steps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let multiplier = try configuration.int("depth_multiplier", default: 1)
    let settings = try ConvolutionSettings(configuration, allowsCausal: true)
    return conversion(settings.slots("depthwise_kernel")) { call, network in
      let input = try settings.axes.input(call, &network)
      var convolution = try settings.depthwise(call, input, multiplier: multiplier)
      convolution.hasBias = settings.hasBias
      convolution.bias = try settings.bias(call, convolution.outputChannels)
      var output = try settings.output(input, filters: convolution.outputChannels, call)
      output.blob = network.add(call.name, convolution, [settings.padded(input, call, &network)])
      return [try network.activate(settings.activation, output, call)]
    }
  }
}

/// A depthwise convolution followed by a 1 × 1 convolution, which adds the bias.
enum SeparableConv: KerasLayer {
  static let classes = [SourceLayer](
    "SeparableConv2D", "SeparableConvolution2D", "SeparableConv1D", "SeparableConvolution1D",
    becomes: "two convolutions", options: "`depth_multiplier`, and those of Conv2D")
  static let leadingAxes = LeadingAxesPolicy.steps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let filters = try configuration.int("filters", "nb_filter")
    let multiplier = try configuration.int("depth_multiplier", default: 1)
    let settings = try ConvolutionSettings(configuration, allowsCausal: true)
    return conversion(settings.slots("depthwise_kernel", "pointwise_kernel")) { call, network in
      let input = try settings.axes.input(call, &network)
      let depthwise = try settings.depthwise(call, input, multiplier: multiplier)
      let inner = depthwise.outputChannels
      let ones = settings.kernelSize.map { _ in 1 }
      let kernel = try call.weight("pointwise_kernel", ones + [inner, filters])
      var pointwise = Convolution.pointwise(
        Weights(kernel.shaped([inner, filters]).transposed([1, 0])), inputs: inner,
        outputs: filters, bias: try settings.bias(call, filters))
      // The same padding as coremltools writes.
      if settings.axes.count == 2 { pointwise.padding = settings.border.convolutionPadding }
      var output = try settings.output(input, filters: filters, call)
      let intermediate = network.add(
        call.name + "_step_1", depthwise, [settings.padded(input, call, &network)],
        to: call.name + "_output_intermin_")
      output.blob = network.add(
        call.name + "_step_2", pointwise, [intermediate], to: call.name + "_output")
      return [try network.activate(settings.activation, output, call)]
    }
  }
}
