import CoreMLModel
import TensorCore

/// A convolution along the steps of a sequence. Causal padding puts dilation · (kernel − 1) zeros
/// before the first step.
struct Conv1D: KerasLayer {
  static let classNames = ["Conv1D", "Convolution1D", "AtrousConvolution1D", "AtrousConv1D"]

  private let filters: Int
  private let length: Int
  private let stride: Int
  private let dilation: Int
  private let groups: Int
  private let border: LayerConfiguration.Border
  private let hasBias: Bool
  private let activation: ActivationFunction
  private let steps: StepSettings
  private let isTurned: Bool

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    length = try configuration.single("kernel_size", "filter_length")
    stride = try configuration.single("strides", "subsample_length", "subsample", default: 1)
    dilation = try configuration.single("dilation_rate", "atrous_rate", default: 1)
    groups = try configuration.int("groups", default: 1)
    border = try configuration.border(allowing: [.valid, .same, .causal])
    hasBias = try configuration.bool("use_bias", "bias", default: true)
    activation = try ActivationFunction(configuration)
    steps = try StepSettings(configuration)
    isTurned = configuration.version.backend == "theano"
  }

  var weights: [WeightSlot] {
    [WeightSlot("kernel")] + (hasBias ? [WeightSlot("bias")] : [])
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var input = try steps.input(call, &network)
    let channels = input.isGuess ? nil : input.size(of: .channel)
    let kernel = try kernel(call, channels.map { $0 / groups })
    let extent = (length - 1) * dilation + 1
    var output = steps.output(input) { steps in
      let padded = border == .causal ? steps + extent - 1 : steps
      return (border == .same ? border : .valid).length(padded, extent: extent, stride: stride)
    }
    if let index = input.index(of: .channel) { output.shape[index] = filters }
    guard !output.shape.contains(0) || input.isGuess else {
      throw call.error("its input \(input.shapeText) is shorter than its kernel of \(extent) steps")
    }
    if border == .causal {
      var padding = Padding()
      padding.kind = .constant(value: 0)
      padding.paddingAmounts = BorderAmounts(top: 0, bottom: 0, left: extent - 1, right: 0)
      input.blob = network.add(
        call.name + "__causal_pad__", padding, [input.blob], to: input.blob + "__causal_pad__")
    }
    var convolution = Convolution()
    convolution.outputChannels = filters
    convolution.kernelChannels = kernel.shape[1]
    convolution.nGroups = groups
    convolution.kernelSize = [1, length]
    convolution.stride = [1, stride]
    convolution.dilationFactor = [1, dilation]
    convolution.padding = border.convolutionPadding
    convolution.kernel = Weights(kernel)
    convolution.hasBias = hasBias
    if hasBias { convolution.bias = Weights(try call.weight("bias", [filters])) }
    output.blob = network.add(call.name, convolution, [input.blob])
    return [try network.activate(activation, output, call)]
  }

  /// `[out, in, 1, k]` of `[k, in, out]`, or of Keras 1's `[k, 1, in, out]`.
  private func kernel(_ call: LayerCall, _ channels: Int?) throws -> FloatValues {
    let rank = call.weights.first { $0.name == "kernel" }?.shape.count
    var stored =
      rank == 4
      ? try call.weight("kernel", [length, 1, channels, filters])
      : try call.weight("kernel", [length, channels, filters])
    let inner = stored.shape[stored.shape.count - 2]
    if isTurned {
      let source = stored.array()
      let size = inner * filters
      stored = FloatValues(
        (0..<length).reversed().flatMap { source[$0 * size..<($0 + 1) * size] })
    }
    return stored.shaped([1, length, inner, filters]).transposed([3, 2, 0, 1])
  }
}
