import CoreMLModel
import ImportSupport
import TensorCore

/// A convolution over depth, height and width. It becomes a 2D convolution over as many slices as
/// the kernel is deep, stacked as channels.
struct Conv3D: KerasLayer {
  static let classes = [
    SourceLayer(
      "Conv3D", "Convolution3D",
      becomes: "slices along the depth, stacked as channels, and one convolution",
      options: "`strides`, `padding`, `dilation_rate`, `groups`, \(SourceLayer.dataFormat)",
      refused: "kernels trained with Theano")
  ]

  private let filters: Int
  private let groups: Int
  private let settings: ConvolutionSettings

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    groups = try configuration.groups(of: filters)
    settings = try ConvolutionSettings(configuration)
  }

  var weights: [WeightSlot] { settings.slots("kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let axes = settings.axes
    let input = try axes.input(call, &network)
    let depth = try call.known(axes.lengths(input), of: input)[0]
    guard let channels = input.size(of: .channel), channels % groups == 0 else {
      throw call.error(
        "the channels of its input \(input.shapeText) are not divisible by \(groups) groups")
    }
    var output = try settings.output(input, filters: filters, call)
    let inner = channels / groups
    let elements = try kernel(call, inner).array()
    let bias = settings.hasBias ? try call.weight("bias", [filters]).array() : nil
    let gathered = gather(
      input, length: axes.lengths(output)[0] ?? 0, size: depth, call, &network)
    let made = filters / groups
    let size = settings.kernelSize
    let shape = [made, size[0] * inner, size[1], size[2]]
    let count = shape.reduce(1, *)
    var blobs: [String] = []
    for group in 0..<groups {
      let name = groups == 1 ? call.name : "\(call.name)__group_\(group)__"
      // The channels of this group in every slice, slice by slice.
      let slices =
        groups == 1
        ? gathered
        : gathered.enumerated().map { index, blob in
          network.slice(blob, group * inner..<(group + 1) * inner, "\(name)slice_\(index)")
        }
      let stacked = network.joined(slices, alongSequence: false, name + "__stack__")
      var image = axes.slices(output, call, &network)
      image.blob = stacked
      let own = Array(elements[group * count..<(group + 1) * count])
      let convolution = settings.convolution(
        FloatValues(own).shaped(shape),
        bias: bias.map { Weights(Array($0[group * made..<(group + 1) * made])) })
      blobs.append(
        network.add(
          name, convolution, [network.relaid(image, to: axes.layout, for: call.name).blob]))
    }
    output.blob = network.joined(blobs, alongSequence: false, call.name)
    return [try network.activate(settings.activation, output, call)]
  }

  /// `[out, kernel depth, in, kernel height, kernel width]`, where in counts the inputs of one
  /// group.
  private func kernel(_ call: LayerCall, _ inner: Int) throws -> FloatValues {
    let size = settings.kernelSize
    return settings.isTheanoKernel
      ? try call.weight("kernel", [filters, inner] + size).transposed([0, 2, 1, 3, 4])
      : try call.weight("kernel", size + [inner, filters]).transposed([4, 0, 3, 1, 2])
  }

  /// For each depth position of the kernel, the slices under it, with depth along the height.
  private func gather(
    _ input: KerasTensor, length: Int, size: Int, _ call: LayerCall,
    _ network: inout NetworkWriter
  ) -> [String] {
    let stride = settings.strides[0]
    var blob = settings.axes.slices(input, call, &network).blob
    let total = max((length - 1) * stride + settings.extents[0] - size, 0)
    if settings.border == .same, total > 0 {
      let amounts = BorderAmounts(top: total / 2, bottom: total - total / 2, left: 0, right: 0)
      blob = network.add(call.name + "__pad__", Padding(.constant(value: 0), amounts), [blob])
    }
    return (0..<settings.kernelSize[0]).map { place in
      let start = place * settings.dilation[0]
      return network.slice(
        blob, start..<start + (length - 1) * stride + 1, of: .height, stride: stride,
        "\(call.name)__depth_\(place)__")
    }
  }
}

/// The transpose of a three-dimensional convolution: a transposed convolution over height and width
/// for each depth position of the kernel, followed by one over the depth that sums the results.
struct Conv3DTranspose: KerasLayer {
  static let classes = [
    SourceLayer(
      "Conv3DTranspose", "Convolution3DTranspose", "Deconvolution3D",
      becomes: "a deconvolution over height and width, and one over the depth",
      options: "`strides`, `padding`, `output_padding`, `dilation_rate`")
  ]

  private let filters: Int
  private let settings: TransposedSettings

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    settings = try TransposedSettings(configuration)
  }

  var weights: [WeightSlot] { settings.convolution.slots("kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let convolution = settings.convolution
    let axes = convolution.axes
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
    let kernel = try call.weight("kernel", size + [filters, channels])
      .transposed([4, 0, 3, 1, 2]).array()
    var flat = try settings.layer(
      FloatValues(kernel).shaped([channels, deep, size[1], size[2]]))
    flat.outputShape = [lengths[1], lengths[2]]
    var wide = axes.resized(input, to: [sizes[0], lengths[1], lengths[2]], channels: deep)
    wide.blob = network.add(call.name + "__images__", flat, [input.blob])
    wide = axes.slices(wide, call, &network)
    var output = axes.resized(wide, to: lengths, channels: filters)
    output.blob = network.add(
      call.name, try summation(call, deep, lengths[0], width: lengths[2]), [wide.blob])
    return [try network.activate(convolution.activation, output, call)]
  }

  /// Adds depth position `j` of the kernel at depth · stride + j · dilation.
  private func summation(
    _ call: LayerCall, _ deep: Int, _ length: Int, width: Int
  ) throws -> Convolution {
    let settings = settings.convolution
    let extent = settings.extents[0]
    var kernel = [Float](
      repeating: 0, count: try checkedProduct([deep, filters, extent], limit: 1 << 28))
    for place in 0..<settings.kernelSize[0] {
      for filter in 0..<filters {
        let row = (place * filters + filter) * filters + filter
        kernel[row * extent + place * settings.dilation[0]] = 1
      }
    }
    var convolution = Convolution(
      Weights(kernel), inputs: deep, outputs: filters, size: [extent, 1],
      bias: try settings.bias(call, filters))
    convolution.isDeconvolution = true
    convolution.stride = [settings.strides[0], 1]
    convolution.padding = settings.border.convolutionPadding
    convolution.outputShape = [length, width]
    return convolution
  }
}
