import CoreMLModel
import TensorCore

/// A depthwise convolution, then a 1 × 1 convolution with the bias.
struct SeparableConv2D: KerasLayer {
  static let classNames = ["SeparableConv2D", "SeparableConvolution2D"]

  private let filters: Int
  private let multiplier: Int
  private let settings: ConvolutionSettings

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    multiplier = try configuration.int("depth_multiplier", default: 1)
    settings = try ConvolutionSettings(configuration)
  }

  var weights: [WeightSlot] {
    [WeightSlot("depthwise_kernel"), WeightSlot("pointwise_kernel")]
      + (settings.hasBias ? [WeightSlot("bias")] : [])
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.image(call, &network)
    let depthwise = try settings.depthwise(call, input, multiplier: multiplier)
    let inner = depthwise.outputChannels
    var pointwise = Convolution()
    pointwise.outputChannels = filters
    pointwise.kernelChannels = inner
    pointwise.nGroups = 1
    pointwise.kernelSize = [1, 1]
    pointwise.stride = [1, 1]
    pointwise.dilationFactor = [1, 1]
    pointwise.padding = settings.border.convolutionPadding
    let kernel = try call.weight("pointwise_kernel", [1, 1, inner, filters])
    pointwise.kernel = Weights(kernel.transposed([3, 2, 0, 1]))
    pointwise.hasBias = settings.hasBias
    if settings.hasBias { pointwise.bias = Weights(try call.weight("bias", [filters])) }
    var output = settings.output(input, channels: filters)
    try settings.check(output, input, call)
    let intermediate = network.add(
      call.name + "_step_1", depthwise, [input.blob], to: call.name + "_output_intermin_")
    output.blob = network.add(
      call.name + "_step_2", pointwise, [intermediate], to: call.name + "_output")
    return [try network.activate(settings.activation, output, call)]
  }
}
