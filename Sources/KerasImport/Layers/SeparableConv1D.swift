import CoreMLModel
import TensorCore

/// A convolution of each channel on its own along the steps, with `depth_multiplier` results a
/// channel.
struct DepthwiseConv1D: KerasLayer {
  static let classNames = ["DepthwiseConv1D", "DepthwiseConvolution1D"]

  private let multiplier: Int
  private let settings: StepConvolution

  init(_ configuration: LayerConfiguration) throws {
    multiplier = try configuration.int("depth_multiplier", default: 1)
    settings = try StepConvolution(configuration)
  }

  var weights: [WeightSlot] { settings.slots("depthwise_kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.steps.input(call, &network)
    var convolution = try settings.depthwise(call, input, multiplier: multiplier)
    convolution.hasBias = settings.hasBias
    convolution.bias = try settings.bias(call, convolution.outputChannels)
    var output = try settings.output(input, filters: convolution.outputChannels, call)
    output.blob = network.add(
      call.name, convolution, [settings.padded(input, call, &network)])
    return [try network.activate(settings.activation, output, call)]
  }
}

/// A depthwise convolution along the steps, then one of length 1 with the bias.
struct SeparableConv1D: KerasLayer {
  static let classNames = ["SeparableConv1D", "SeparableConvolution1D"]

  private let filters: Int
  private let multiplier: Int
  private let settings: StepConvolution

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    multiplier = try configuration.int("depth_multiplier", default: 1)
    settings = try StepConvolution(configuration)
  }

  var weights: [WeightSlot] { settings.slots("depthwise_kernel", "pointwise_kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.steps.input(call, &network)
    let depthwise = try settings.depthwise(call, input, multiplier: multiplier)
    let inner = depthwise.outputChannels
    var output = try settings.output(input, filters: filters, call)
    let intermediate = network.add(
      call.name + "_step_1", depthwise, [settings.padded(input, call, &network)],
      to: call.name + "_output_intermin_")
    let kernel = try call.weight("pointwise_kernel", [1, inner, filters])
    let pointwise = Convolution.pointwise(
      Weights(kernel.transposed([2, 1, 0])), inputs: inner, outputs: filters,
      bias: try settings.bias(call, filters))
    output.blob = network.add(
      call.name + "_step_2", pointwise, [intermediate], to: call.name + "_output")
    return [try network.activate(settings.activation, output, call)]
  }
}

extension Convolution {
  /// A 1 × 1 convolution: a matrix `[outputs, inputs]` at each place.
  static func pointwise(
    _ matrix: Weights, inputs: Int, outputs: Int, bias: Weights? = nil
  ) -> Convolution {
    var convolution = Convolution()
    convolution.outputChannels = outputs
    convolution.kernelChannels = inputs
    convolution.nGroups = 1
    convolution.kernelSize = [1, 1]
    convolution.stride = [1, 1]
    convolution.dilationFactor = [1, 1]
    convolution.padding = .valid(.none)
    convolution.kernel = matrix
    convolution.hasBias = bias != nil
    convolution.bias = bias
    return convolution
  }
}
