import CoreMLModel
import TensorCore

/// What the three-dimensional convolutions have in common.
private struct VolumeConvolution: Sendable {
  let filters: Int
  let kernelSize: [Int]
  let strides: [Int]
  let dilation: [Int]
  let border: LayerConfiguration.Border
  let hasBias: Bool
  let activation: ActivationFunction
  let volume: VolumeSettings
  /// Keras 1 keeps Theano's order of a kernel's axes where `dim_ordering` is `th`.
  let isTheanoKernel: Bool

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    if configuration.field("kernel_dim1") != nil {
      kernelSize = try ["kernel_dim1", "kernel_dim2", "kernel_dim3"].map {
        try configuration.int($0)
      }
    } else {
      kernelSize = try configuration.triple("kernel_size")
    }
    strides = try configuration.triple("strides", "subsample", default: [1, 1, 1])
    dilation = try configuration.triple("dilation_rate", default: [1, 1, 1])
    border = try configuration.border()
    hasBias = try configuration.bool("use_bias", "bias", default: true)
    activation = try ActivationFunction(configuration)
    volume = try VolumeSettings(configuration)
    isTheanoKernel =
      configuration.fields["dim_ordering"] != nil && volume.format == .channelsFirst
    guard configuration.version.backend != "theano" else {
      throw configuration.unsupported(
        nil, "three-dimensional convolutions that Theano trained are not supported")
    }
  }

  var extents: [Int] { zip(kernelSize, dilation).map { ($0 - 1) * $1 + 1 } }
  var slots: [WeightSlot] { [WeightSlot("kernel")] + (hasBias ? [WeightSlot("bias")] : []) }
}

/// A convolution over depth, height and width: one over height and width of as many slices as the
/// kernel is deep, laid side by side as channels.
struct Conv3D: KerasLayer {
  static let classNames = ["Conv3D", "Convolution3D"]

  private let settings: VolumeConvolution
  private let groups: Int

  init(_ configuration: LayerConfiguration) throws {
    settings = try VolumeConvolution(configuration)
    groups = try configuration.int("groups", default: 1)
    guard settings.filters % groups == 0 else {
      throw configuration.unsupported(
        "groups", "\(settings.filters) filters do not divide into \(groups) groups")
    }
  }

  var weights: [WeightSlot] { settings.slots }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let volume = settings.volume
    let input = try volume.images(call.input, call, &network)
    let sizes = try volume.sizes(input, call)
    guard let channels = input.size(of: .channel), channels % groups == 0 else {
      throw call.error("its input \(input.shapeText) does not divide into \(groups) groups")
    }
    let lengths = sizes.indices.compactMap {
      settings.border.length(
        sizes[$0], extent: settings.extents[$0], stride: settings.strides[$0])
    }
    guard lengths.allSatisfy({ $0 > 0 }) else {
      throw call.error("its input \(input.shapeText) is smaller than its kernel")
    }
    let inner = channels / groups
    let kernel = try kernel(call, inner).array()
    let bias = settings.hasBias ? try call.weight("bias", [settings.filters]).array() : nil
    let gathered = gather(input, length: lengths[0], size: sizes[0], call, &network)
    var output = volume.resized(input, to: lengths, channels: settings.filters)
    let filters = settings.filters / groups
    let size = settings.kernelSize
    var blobs: [String] = []
    for group in 0..<groups {
      let isOnly = groups == 1
      let name = isOnly ? call.name : "\(call.name)__group_\(group)__"
      // The channels of this group in every slice, slice by slice.
      var slices = gathered
      if !isOnly {
        slices = gathered.enumerated().map { index, blob in
          network.slice(
            blob, group * inner..<(group + 1) * inner, "\(name)slice_\(index)")
        }
      }
      let stacked = network.joined(slices, alongSequence: false, name + "__stack__")
      var image = volume.slices(output, call, &network)
      image.blob = stacked
      var convolution = Convolution()
      convolution.outputChannels = filters
      convolution.kernelChannels = size[0] * inner
      convolution.nGroups = 1
      convolution.kernelSize = [size[1], size[2]]
      convolution.stride = [settings.strides[1], settings.strides[2]]
      convolution.dilationFactor = [settings.dilation[1], settings.dilation[2]]
      convolution.padding = settings.border.convolutionPadding
      let count = filters * size[0] * inner * size[1] * size[2]
      convolution.kernel = Weights(Array(kernel[group * count..<(group + 1) * count]))
      convolution.hasBias = bias != nil
      convolution.bias = bias.map {
        Weights(Array($0[group * filters..<(group + 1) * filters]))
      }
      blobs.append(
        network.add(
          name, convolution, [try volume.images(image, call, &network).blob]))
    }
    output.blob =
      groups == 1 ? blobs[0] : network.joined(blobs, alongSequence: false, call.name)
    return [try network.activate(settings.activation, output, call)]
  }

  /// `[out, kernel depth · in, kernel height, kernel width]`, in of one group.
  private func kernel(_ call: LayerCall, _ inner: Int) throws -> FloatValues {
    let size = settings.kernelSize
    let stored: FloatValues
    if settings.isTheanoKernel {
      stored = try call.weight(
        "kernel", [settings.filters, inner, size[0], size[1], size[2]]
      ).transposed([0, 2, 1, 3, 4])
    } else {
      stored = try call.weight("kernel", size.map { $0 } + [inner, settings.filters])
        .transposed([4, 0, 3, 1, 2])
    }
    return stored
  }

  /// For each place of the kernel's depth, the slices under it, depth along the height.
  private func gather(
    _ input: KerasTensor, length: Int, size: Int, _ call: LayerCall,
    _ network: inout NetworkWriter
  ) -> [String] {
    let stride = settings.strides[0]
    var blob = settings.volume.slices(input, call, &network).blob
    if settings.border == .same {
      let total = max((length - 1) * stride + settings.extents[0] - size, 0)
      if total > 0 {
        var padding = Padding()
        padding.kind = .constant(value: 0)
        padding.paddingAmounts = BorderAmounts(
          top: total / 2, bottom: total - total / 2, left: 0, right: 0)
        blob = network.add(call.name + "__pad__", padding, [blob])
      }
    }
    return (0..<settings.kernelSize[0]).map { place in
      let start = place * settings.dilation[0]
      return network.slice(
        blob, start..<start + (length - 1) * stride + 1, of: .height, stride: stride,
        "\(call.name)__depth_\(place)__")
    }
  }
}

/// The gradient of a three-dimensional convolution with respect to its input, used forwards: a
/// transposed convolution over height and width for each place of the kernel's depth, then one over
/// the depth that adds these up.
struct Conv3DTranspose: KerasLayer {
  static let classNames = ["Conv3DTranspose", "Convolution3DTranspose", "Deconvolution3D"]

  private let settings: VolumeConvolution
  private let outputPadding: [Int]?

  init(_ configuration: LayerConfiguration) throws {
    settings = try VolumeConvolution(configuration)
    outputPadding =
      configuration.field("output_padding") == nil
      ? nil : try configuration.triple("output_padding", atLeast: 0)
  }

  var weights: [WeightSlot] { settings.slots }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let volume = settings.volume
    let input = try volume.images(call.input, call, &network)
    let sizes = try volume.sizes(input, call)
    guard let channels = input.size(of: .channel) else {
      throw call.error("its input \(input.shapeText) has an unknown size", code: .mismatch)
    }
    let lengths = sizes.indices.map {
      settings.border.transposedLength(
        sizes[$0], extent: settings.extents[$0], stride: settings.strides[$0],
        outputPadding: outputPadding?[$0])
    }
    guard lengths.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }) else {
      throw call.error("its output would be \(lengths)")
    }
    let size = settings.kernelSize
    let filters = settings.filters
    let depth = size[0]
    let deep = try checkedProduct([depth, filters], limit: Limits.dimension)
    // [d, h, w, out, in] to [in, d · out, h, w]
    let kernel = try call.weight("kernel", size.map { $0 } + [filters, channels])
      .transposed([4, 0, 3, 1, 2])
    var flat = Convolution()
    flat.isDeconvolution = true
    flat.outputChannels = deep
    flat.kernelChannels = channels
    flat.nGroups = 1
    flat.kernelSize = [size[1], size[2]]
    flat.stride = [settings.strides[1], settings.strides[2]]
    flat.padding = settings.border.convolutionPadding
    flat.kernel = Weights(kernel)
    try flat.fillGaps(
      kernel: [size[1], size[2]], dilation: [settings.dilation[1], settings.dilation[2]],
      count: channels * deep)
    flat.outputShape = [lengths[1], lengths[2]]
    var wide = volume.resized(input, to: [sizes[0], lengths[1], lengths[2]], channels: deep)
    wide.blob = network.add(call.name + "__images__", flat, [input.blob])
    wide = volume.slices(wide, call, &network)
    var output = volume.resized(wide, to: lengths, channels: filters)
    output.blob = network.add(
      call.name, try summation(call, deep, lengths[0], width: lengths[2]), [wide.blob])
    return [try network.activate(settings.activation, output, call)]
  }

  /// Adds place `j` of the kernel's depth to depth · stride + j · dilation.
  private func summation(
    _ call: LayerCall, _ deep: Int, _ length: Int, width: Int
  ) throws -> Convolution {
    let filters = settings.filters
    let extent = settings.extents[0]
    var kernel = [Float](
      repeating: 0, count: try checkedProduct([deep, filters, extent], limit: 1 << 28))
    for place in 0..<settings.kernelSize[0] {
      for filter in 0..<filters {
        let row = (place * filters + filter) * filters + filter
        kernel[row * extent + place * settings.dilation[0]] = 1
      }
    }
    var convolution = Convolution()
    convolution.isDeconvolution = true
    convolution.outputChannels = filters
    convolution.kernelChannels = deep
    convolution.nGroups = 1
    convolution.kernelSize = [extent, 1]
    convolution.stride = [settings.strides[0], 1]
    convolution.dilationFactor = [1, 1]
    convolution.padding = settings.border.convolutionPadding
    convolution.kernel = Weights(kernel)
    convolution.outputShape = [length, width]
    convolution.hasBias = settings.hasBias
    if settings.hasBias { convolution.bias = Weights(try call.weight("bias", [filters])) }
    return convolution
  }
}
