import CoreMLModel
import TensorCore

extension ValidPadding {
  /// No padding, spelled out as the reference writes it.
  static var none: ValidPadding {
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(top: 0, bottom: 0, left: 0, right: 0)
    return padding
  }
}

extension LayerConfiguration.Border {
  var convolutionPadding: Convolution.Padding {
    self == .same ? .same(SamePadding()) : .valid(.none)
  }

  var poolingPadding: Pooling.Padding { self == .same ? .same(SamePadding()) : .valid(.none) }

  /// Length of the output of a window of `extent` elements.
  func length(_ input: Int?, extent: Int, stride: Int) -> Int? {
    guard let input else { return nil }
    return self == .same ? (input + stride - 1) / stride : max(0, input - extent + stride) / stride
  }
}

/// What the two-dimensional convolutions have in common.
struct ConvolutionSettings: Sendable {
  let kernelSize: [Int]
  let strides: [Int]
  let dilation: [Int]
  let border: LayerConfiguration.Border
  let hasBias: Bool
  let format: LayerConfiguration.DataFormat
  let activation: ActivationFunction
  /// Keras 1 keeps Theano's order of a kernel's axes where `dim_ordering` is `th`.
  let isTheanoKernel: Bool
  /// Theano's convolution turns the kernel by 180°.
  let isTurned: Bool

  init(
    _ configuration: LayerConfiguration,
    borders: [LayerConfiguration.Border] = [.valid, .same]
  ) throws {
    if let rows = configuration.field("nb_row"), let columns = configuration.field("nb_col") {
      kernelSize = [
        try configuration.int(rows.name), try configuration.int(columns.name),
      ]
    } else {
      kernelSize = try configuration.pair("kernel_size")
    }
    strides = try configuration.pair("strides", "subsample", default: [1, 1])
    dilation = try configuration.pair("dilation_rate", "atrous_rate", default: [1, 1])
    border = try configuration.border(allowing: borders)
    hasBias = try configuration.bool("use_bias", "bias", default: true)
    format = try configuration.dataFormat ?? .channelsLast
    activation = try ActivationFunction(configuration)
    isTheanoKernel =
      configuration.fields["dim_ordering"] != nil && format == .channelsFirst
    isTurned = configuration.version.backend == "theano"
  }

  /// Extents of the kernel with its gaps.
  var extents: [Int] { zip(kernelSize, dilation).map { ($0 - 1) * $1 + 1 } }

  /// The layer's input as an image in the layout that the layer works on.
  func image(_ call: LayerCall, _ network: inout NetworkWriter) throws -> KerasTensor {
    let input = try call.input
    return try network.image(input, format, call)
  }

  func output(_ input: KerasTensor, channels: Int) -> KerasTensor {
    var output = input
    for (axis, place) in [BlobAxis.height, .width].enumerated() {
      guard let index = input.index(of: place) else { continue }
      output.shape[index] = border.length(
        input.shape[index], extent: extents[axis], stride: strides[axis])
    }
    if let index = input.index(of: .channel) { output.shape[index] = channels }
    return output
  }

  /// Refuses an image that is smaller than the kernel.
  func check(_ output: KerasTensor, _ input: KerasTensor, _ call: LayerCall) throws {
    guard !output.shape.contains(0) || input.isGuess else {
      throw call.error(
        "its input \(input.shapeText) is smaller than its window of "
          + "\(extents[0]) × \(extents[1])")
    }
  }

  /// A convolution whose fields are those that all kinds share.
  func convolution(outputChannels: Int, kernelChannels: Int, groups: Int) -> Convolution {
    var convolution = Convolution()
    convolution.outputChannels = outputChannels
    convolution.kernelChannels = kernelChannels
    convolution.nGroups = groups
    convolution.kernelSize = kernelSize
    convolution.stride = strides
    convolution.dilationFactor = dilation
    convolution.padding = border.convolutionPadding
    return convolution
  }

  /// `[h, w, …]` turned by 180°, where the framework that trained it convolves that way.
  func turned(_ kernel: FloatValues) -> FloatValues {
    guard isTurned, kernel.shape.count == 4 else { return kernel }
    let shape = kernel.shape
    let inner = shape[2] * shape[3]
    let count = shape[0] * shape[1]
    let source = kernel.array()
    var target = [Float]()
    target.reserveCapacity(source.count)
    for position in 0..<count {
      let start = (count - 1 - position) * inner
      target += source[start..<start + inner]
    }
    return FloatValues(target).shaped(shape)
  }
}

extension NetworkWriter {
  /// The tensor as an image in the layout of a layer's data format.
  mutating func image(
    _ tensor: KerasTensor, _ format: LayerConfiguration.DataFormat, _ call: LayerCall
  ) throws -> KerasTensor {
    switch tensor.rank {
    case 4: return relaid(tensor, to: format.layout, for: call.name)
    case 5:
      return relaid(
        tensor,
        to: format == .channelsLast ? .imageSequence : .imageSequenceChannelsFirst,
        for: call.name)
    default:
      throw call.error("its input \(tensor.shapeText) is no image")
    }
  }
}

/// out = activation(kernel ∗ in + bias)
struct Conv2D: KerasLayer {
  static let classNames = [
    "Conv2D", "Convolution2D", "AtrousConvolution2D", "AtrousConv2D",
  ]

  private let filters: Int
  private let groups: Int
  private let settings: ConvolutionSettings

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    groups = try configuration.int("groups", default: 1)
    settings = try ConvolutionSettings(configuration)
    guard filters % groups == 0 else {
      throw configuration.unsupported(
        "groups", "\(filters) filters do not divide into \(groups) groups")
    }
  }

  var weights: [WeightSlot] {
    [WeightSlot("kernel")] + (settings.hasBias ? [WeightSlot("bias")] : [])
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.image(call, &network)
    let channels = input.isGuess ? nil : input.size(of: .channel)
    let size = settings.kernelSize
    let kernel: FloatValues
    if settings.isTheanoKernel {
      kernel = try call.weight("kernel", [filters, channels, size[0], size[1]])
    } else {
      let perGroup = channels.map { $0 / groups }
      let stored = try call.weight("kernel", size.map { $0 } + [perGroup, filters])
      kernel = settings.turned(stored).transposed([3, 2, 0, 1])
    }
    var convolution = settings.convolution(
      outputChannels: filters, kernelChannels: kernel.shape[1], groups: groups)
    convolution.kernel = Weights(kernel)
    convolution.hasBias = settings.hasBias
    if settings.hasBias { convolution.bias = Weights(try call.weight("bias", [filters])) }
    var output = settings.output(input, channels: filters)
    try settings.check(output, input, call)
    output.blob = network.add(call.name, convolution, [input.blob])
    return [try network.activate(settings.activation, output, call)]
  }
}
