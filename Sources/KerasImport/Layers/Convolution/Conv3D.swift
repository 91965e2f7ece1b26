import CoreMLModel
import ImportSupport
import TensorCore

/// A convolution over depth, height and width. It becomes a 2D convolution over the slices under
/// the kernel, stacked as channels; with groups, a sum of 2D convolutions, one per depth of the
/// kernel.
struct Conv3D: KerasLayerSettings {
  static let classes = [SourceLayer](
    "Conv3D", "Convolution3D",
    becomes: "slices along the depth, stacked as channels, and one convolution",
    options: "`strides`, `padding`, `dilation_rate`, `groups`, \(SourceLayer.dataFormat)")

  private let filters: Int
  private let groups: Int
  private let settings: ConvolutionSettings

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    groups = try configuration.groups(of: filters)
    settings = try ConvolutionSettings(configuration)
  }

  fileprivate init(filters: Int, groups: Int, _ settings: ConvolutionSettings) {
    (self.filters, self.groups, self.settings) = (filters, groups, settings)
  }

  var weights: [WeightSlot] { settings.slots("kernel") }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let axes = settings.axes
    let input = try axes.input(call, &network)
    let lengths = try call.known(axes.lengths(input), of: input)
    if settings.border == .same {
      axes.noteNarrowWindows(
        lengths, extents: zip(settings.kernelSize, settings.dilation).map { ($0 - 1) * $1 + 1 },
        strides: settings.strides, call, &network)
    }
    guard let channels = input.size(of: .channel), channels % groups == 0 else {
      throw call.error(
        "the channels of its input \(input.shapeText) are not divisible by \(groups) groups")
    }
    var output = try settings.output(input, filters: filters, call)
    let kernel = try kernel(call, channels / groups)
    let bias = try settings.bias(call, filters)
    let size = settings.kernelSize
    let depth = axes.lengths(output)[0] ?? 0
    let gathered = gather(input, length: depth, size: lengths[0], call, &network)
    var image = axes.resized(
      axes.slices(input, call, &network), to: [depth] + lengths[1...],
      channels: groups == 1 ? try checkedProduct([size[0], channels]) : channels)
    if groups == 1 {
      image.blob = network.joined(gathered, alongSequence: false, call.name + "__stack__")
      let deep = try FloatValues(kernel.array()).shaped([
        filters, size[0] * channels, size[1], size[2],
      ])
      output.blob = network.add(
        call.name, settings.convolution(deep, bias: bias),
        [network.relaid(image, to: axes.layout, for: call.name).blob])
      return [try network.activate(settings.activation, output, call)]
    }
    let elements = try kernel.transposed([1, 0, 2, 3, 4]).array()
    let count = elements.count / max(size[0], 1)
    let parts = gathered.enumerated().map { index, blob in
      let own = FloatValues(Array(elements[index * count..<(index + 1) * count]))
      image.blob = blob
      return network.add(
        "\(call.name)__part_\(index)__",
        settings.convolution(
          own.shaped([filters, channels / groups, size[1], size[2]]), groups: groups,
          bias: index == 0 ? bias : nil),
        [network.relaid(image, to: axes.layout, for: call.name).blob])
    }
    output.blob = parts.count == 1 ? parts[0] : network.sum(parts, call.name)
    return [try network.activate(settings.activation, output, call)]
  }

  /// The kernel as `[out, kernel depth, in, kernel height, kernel width]`, where `in` is the number
  /// of inputs per group.
  private func kernel(_ call: LayerCall, _ inner: Int) throws -> FloatValues {
    let size = settings.kernelSize
    return settings.isTheanoKernel
      ? try settings.theanoKernel(call, [filters, inner]).transposed([0, 2, 1, 3, 4])
      : try settings.flipped(call.weight("kernel", size + [inner, filters]))
        .transposed([4, 0, 3, 1, 2])
  }

  /// The slices under each depth of the kernel, with the depth axis along the height.
  private func gather(
    _ input: KerasTensor, length: Int, size: Int, _ call: LayerCall,
    _ network: inout KerasWriter
  ) -> [String] {
    let stride = settings.strides[0]
    var blob = settings.axes.slices(input, call, &network).blob
    let total = max((length - 1) * stride + settings.extents[0] - size, 0)
    if settings.border == .same, total > 0 {
      let amounts = BorderAmounts(top: total / 2, bottom: total - total / 2, left: 0, right: 0)
      blob = network.add(call.name + "__pad__", Padding(.constant(value: 0), amounts), [blob])
    }
    return (0..<settings.kernelSize[0]).map { index in
      let start = index * settings.dilation[0]
      return network.slice(
        blob, start..<start + (length - 1) * stride + 1, of: .height, stride: stride,
        "\(call.name)__depth_\(index)__")
    }
  }
}

/// A convolution of each channel of a volume, or of each group of channels, with the weight
/// `depthwise_kernel`, `[depth, height, width, C, multiplier]`.
enum DepthwiseConv3D: KerasLayer {
  static let classes = [SourceLayer](
    "DepthwiseConv3D", becomes: "convolutions with groups, one for each depth of the kernel, add",
    options: "`depth_multiplier`, `groups`, and those of Conv3D; from classification-models-3d")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let multiplier = try configuration.int("depth_multiplier", default: 1)
    let stated = try configuration.field("groups").map { _ in try configuration.int("groups") }
    let settings = try ConvolutionSettings(configuration)
    return conversion(settings.slots("depthwise_kernel")) { call, network in
      let input = try call.input
      let channels = try call.known(
        [settings.axes.format == .channelsLast ? input.channels : input.shape[1]], of: input)[0]
      let groups = stated ?? channels
      try call.require(
        groups <= channels && channels % groups == 0,
        "the channels of its input \(input.shapeText) are not divisible by \(groups) groups")
      let filters = try checkedProduct([groups, multiplier], limit: Limits.dimension)
      let inner = channels / groups
      let size = settings.kernelSize
      let stored = try call.weight("depthwise_kernel", size + [channels, multiplier])
      let kernel = FloatValues(
        try stored.shaped(size + [groups, inner, multiplier]).transposed([0, 1, 2, 4, 3, 5]).array()
      ).shaped(size + [inner, filters])
      let weights = call.weights.map { weight in
        guard weight.name == "depthwise_kernel" else { return weight }
        return StoredWeight(name: "kernel", storedName: weight.storedName, shape: kernel.shape) {
          kernel
        }
      }
      return try Conv3D(filters: filters, groups: groups, settings).convert(
        call.with(name: call.name, inputs: call.inputs, weights: weights), into: &network)
    }
  }
}

/// The transpose of a three-dimensional convolution: a transposed convolution over height and width
/// for each depth of the kernel, followed by one over the depth that sums the results.
enum Conv3DTranspose: KerasLayer {
  static let classes = [SourceLayer](
    "Conv3DTranspose", "Convolution3DTranspose", "Deconvolution3D",
    becomes: "a deconvolution over height and width, and one over the depth",
    options: "`strides`, `padding`, `output_padding`, `dilation_rate`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let filters = try configuration.int("filters", "nb_filter")
    let settings = try TransposedSettings(configuration)
    let convolution = settings.convolution
    let axes = convolution.axes
    return conversion(convolution.slots("kernel")) { call, network in
      let input = try axes.input(call, &network)
      let sizes = try call.known(axes.lengths(input), of: input)
      guard let channels = input.size(of: .channel) else { throw call.unknownSize(of: input) }
      let lengths = settings.lengths(sizes).compactMap { $0 }
      try call.require(
        lengths.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }),
        "its output would have the size \(lengths)")
      let size = convolution.kernelSize
      let deep = try checkedProduct([size[0], filters], limit: Limits.dimension)
      // [d, h, w, out, in] to [in, d · out, h, w]
      let kernel = try convolution.flipped(call.weight("kernel", size + [filters, channels]))
        .transposed([4, 0, 3, 1, 2]).array()
      var flat = try settings.layer(FloatValues(kernel).shaped([channels, deep, size[1], size[2]]))
      flat.outputShape = [lengths[1], lengths[2]]
      var wide = axes.resized(input, to: [sizes[0], lengths[1], lengths[2]], channels: deep)
      wide.blob = network.add(call.name + "__images__", flat, [input.blob])
      wide = axes.slices(wide, call, &network)
      var output = axes.resized(wide, to: lengths, channels: filters)
      output.blob = network.add(
        call.name,
        try summation(call, convolution, inputs: deep, filters, [lengths[0], lengths[2]]),
        [wide.blob])
      return [try network.activate(convolution.activation, output, call)]
    }
  }

  /// Adds depth `j` of the kernel at output depth · stride + j · dilation.
  private static func summation(
    _ call: LayerCall, _ settings: ConvolutionSettings, inputs: Int, _ filters: Int,
    _ lengths: [Int]
  ) throws -> Convolution {
    let extent = settings.extents[0]
    var kernel = [Float](
      repeating: 0, count: try checkedProduct([inputs, filters, extent], limit: 1 << 28))
    for index in 0..<settings.kernelSize[0] {
      for filter in 0..<filters {
        let row = (index * filters + filter) * filters + filter
        kernel[row * extent + index * settings.dilation[0]] = 1
      }
    }
    var convolution = Convolution(
      Weights(kernel), inputs: inputs, outputs: filters, size: [extent, 1],
      bias: try settings.bias(call, filters))
    convolution.isDeconvolution = true
    convolution.stride = [settings.strides[0], 1]
    convolution.padding = settings.border.convolutionPadding
    convolution.outputShape = lengths
    return convolution
  }
}
