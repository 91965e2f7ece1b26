import CoreMLModel
import TensorCore

/// The gradient of a convolution along the steps with respect to its input, used forwards.
struct Conv1DTranspose: KerasLayer {
  static let classNames = ["Conv1DTranspose", "Convolution1DTranspose"]

  private let filters: Int
  private let outputPadding: Int?
  private let settings: StepConvolution

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters")
    settings = try StepConvolution(configuration, borders: [.valid, .same])
    outputPadding =
      configuration.field("output_padding") == nil
      ? nil : try configuration.single("output_padding", atLeast: 0)
  }

  var weights: [WeightSlot] { settings.slots("kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.steps.input(call, &network)
    let channels = input.isGuess ? nil : input.size(of: .channel)
    let stored = try call.weight("kernel", [settings.length, filters, channels])
    let inner = stored.shape[2]
    var convolution = settings.convolution(
      stored.shaped([1, settings.length, filters, inner]).transposed([3, 2, 0, 1]))
    convolution.outputChannels = filters
    convolution.kernelChannels = inner
    convolution.isDeconvolution = true
    try convolution.fillGaps(
      kernel: [1, settings.length], dilation: [1, settings.dilation],
      count: inner * filters)
    convolution.hasBias = settings.hasBias
    convolution.bias = try settings.bias(call, filters)
    var output = settings.steps.output(input) { steps in
      settings.border.transposedLength(
        steps, extent: settings.extent, stride: settings.stride, outputPadding: outputPadding)
    }
    if let index = input.index(of: .channel) { output.shape[index] = filters }
    if let length = output.size(of: .width) {
      guard length > 0, length <= Limits.dimension else {
        throw call.error("its output would be \(output.shapeText)")
      }
      convolution.outputShape = [1, length]
    }
    output.blob = network.add(call.name, convolution, [input.blob])
    return [try network.activate(settings.activation, output, call)]
  }
}
