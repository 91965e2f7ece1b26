import CoreMLModel
import TensorCore

/// What the convolutions along the steps of a sequence have in common. Causal padding puts
/// dilation · (kernel − 1) zeros before the first step.
struct StepConvolution: Sendable {
  let length: Int
  let stride: Int
  let dilation: Int
  let border: LayerConfiguration.Border
  let hasBias: Bool
  let activation: ActivationFunction
  let steps: StepSettings
  /// Theano's convolution turns the kernel round.
  let isTurned: Bool

  init(
    _ configuration: LayerConfiguration,
    borders: [LayerConfiguration.Border] = [.valid, .same, .causal]
  ) throws {
    length = try configuration.single("kernel_size", "filter_length")
    stride = try configuration.single("strides", "subsample_length", "subsample", default: 1)
    dilation = try configuration.single("dilation_rate", "atrous_rate", default: 1)
    border = try configuration.border(allowing: borders)
    hasBias = try configuration.bool("use_bias", "bias", default: true)
    activation = try ActivationFunction(configuration)
    steps = try StepSettings(configuration)
    isTurned = configuration.version.backend == "theano"
  }

  var extent: Int { (length - 1) * dilation + 1 }

  func slots(_ kernels: String...) -> [WeightSlot] {
    kernels.map { WeightSlot($0) } + (hasBias ? [WeightSlot("bias")] : [])
  }

  func bias(_ call: LayerCall, _ filters: Int) throws -> Weights? {
    hasBias ? Weights(try call.weight("bias", [filters])) : nil
  }

  /// The tensor that the convolution of `input` gives.
  func output(_ input: KerasTensor, filters: Int, _ call: LayerCall) throws -> KerasTensor {
    var output = steps.output(input) { steps in
      let padded = border == .causal ? steps + extent - 1 : steps
      return (border == .same ? border : .valid).length(padded, extent: extent, stride: stride)
    }
    if let index = input.index(of: .channel) { output.shape[index] = filters }
    guard !output.shape.contains(0) || input.isGuess else {
      throw call.error("its input \(input.shapeText) is shorter than its kernel of \(extent) steps")
    }
    return output
  }

  /// The blob of the input with the zeros of causal padding before it.
  func padded(_ input: KerasTensor, _ call: LayerCall, _ network: inout NetworkWriter) -> String {
    guard border == .causal else { return input.blob }
    var padding = Padding()
    padding.kind = .constant(value: 0)
    padding.paddingAmounts = BorderAmounts(top: 0, bottom: 0, left: extent - 1, right: 0)
    return network.add(
      call.name + "__causal_pad__", padding, [input.blob], to: input.blob + "__causal_pad__")
  }

  /// - Parameter kernel: `[outputs, inputs of a group, 1, length]`
  func convolution(_ kernel: FloatValues, groups: Int = 1) -> Convolution {
    var convolution = Convolution()
    convolution.outputChannels = kernel.shape[0]
    convolution.kernelChannels = kernel.shape[1]
    convolution.nGroups = groups
    convolution.kernelSize = [1, length]
    convolution.stride = [1, stride]
    convolution.dilationFactor = [1, dilation]
    convolution.padding = border.convolutionPadding
    convolution.kernel = Weights(kernel)
    return convolution
  }

  /// A convolution of each channel by the weight `depthwise_kernel`, `[length, C, multiplier]`.
  func depthwise(
    _ call: LayerCall, _ input: KerasTensor, multiplier: Int
  ) throws -> Convolution {
    let known = input.isGuess ? nil : input.size(of: .channel)
    let stored = try call.weight("depthwise_kernel", [length, known, multiplier])
    let channels = stored.shape[1]
    let outputs = try checkedProduct([channels, multiplier], limit: Limits.dimension)
    return convolution(
      stored.shaped([1, length, 1, outputs]).transposed([3, 2, 0, 1]), groups: channels)
  }
}

/// A convolution along the steps of a sequence.
struct Conv1D: KerasLayer {
  static let classNames = ["Conv1D", "Convolution1D", "AtrousConvolution1D", "AtrousConv1D"]

  private let filters: Int
  private let groups: Int
  private let settings: StepConvolution

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    groups = try configuration.int("groups", default: 1)
    settings = try StepConvolution(configuration)
    guard filters % groups == 0 else {
      throw configuration.unsupported(
        "groups", "\(filters) filters do not divide into \(groups) groups")
    }
  }

  var weights: [WeightSlot] { settings.slots("kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.steps.input(call, &network)
    let channels = input.isGuess ? nil : input.size(of: .channel)
    let kernel = try kernel(call, channels.map { $0 / groups })
    var output = try settings.output(input, filters: filters, call)
    var convolution = settings.convolution(kernel, groups: groups)
    convolution.hasBias = settings.hasBias
    convolution.bias = try settings.bias(call, filters)
    output.blob = network.add(
      call.name, convolution, [settings.padded(input, call, &network)])
    return [try network.activate(settings.activation, output, call)]
  }

  /// `[out, in, 1, k]` of `[k, in, out]`, or of Keras 1's `[k, 1, in, out]`.
  private func kernel(_ call: LayerCall, _ channels: Int?) throws -> FloatValues {
    let length = settings.length
    let rank = call.weights.first { $0.name == "kernel" }?.shape.count
    var stored =
      rank == 4
      ? try call.weight("kernel", [length, 1, channels, filters])
      : try call.weight("kernel", [length, channels, filters])
    let inner = stored.shape[stored.shape.count - 2]
    if settings.isTurned {
      let source = stored.array()
      let size = inner * filters
      stored = FloatValues(
        (0..<length).reversed().flatMap { source[$0 * size..<($0 + 1) * size] })
    }
    return stored.shaped([1, length, inner, filters]).transposed([3, 2, 0, 1])
  }
}
