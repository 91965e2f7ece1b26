import CoreMLModel
import TensorCore

/// A convolution of each channel on its own, with `depth_multiplier` results a channel.
struct DepthwiseConv2D: KerasLayer {
  static let classNames = ["DepthwiseConv2D", "DepthwiseConvolution2D"]

  private let multiplier: Int
  private let settings: ConvolutionSettings

  init(_ configuration: LayerConfiguration) throws {
    multiplier = try configuration.int("depth_multiplier", default: 1)
    settings = try ConvolutionSettings(configuration)
  }

  var weights: [WeightSlot] {
    [WeightSlot("depthwise_kernel")] + (settings.hasBias ? [WeightSlot("bias")] : [])
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.image(call, &network)
    var convolution = try settings.depthwise(call, input, multiplier: multiplier)
    convolution.hasBias = settings.hasBias
    let channels = convolution.outputChannels
    if settings.hasBias { convolution.bias = Weights(try call.weight("bias", [channels])) }
    var output = settings.output(input, channels: channels)
    try settings.check(output, input, call)
    output.blob = network.add(call.name, convolution, [input.blob])
    return [try network.activate(settings.activation, output, call)]
  }
}

extension ConvolutionSettings {
  /// A grouped convolution by the weight `depthwise_kernel`, `[h, w, C, multiplier]`.
  func depthwise(
    _ call: LayerCall, _ input: KerasTensor, multiplier: Int
  ) throws -> Convolution {
    let known = input.isGuess ? nil : input.size(of: .channel)
    let stored = try call.weight("depthwise_kernel", kernelSize + [known, multiplier])
    let channels = stored.shape[2]
    let outputs = try checkedProduct([channels, multiplier], limit: Limits.dimension)
    var convolution = convolution(outputChannels: outputs, kernelChannels: 1, groups: channels)
    convolution.kernel = Weights(
      turned(stored).shaped(kernelSize + [1, outputs]).transposed([3, 2, 0, 1]))
    return convolution
  }
}
