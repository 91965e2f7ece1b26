import CoreMLModel
import ImportSupport
import TensorCore

/// The transpose of a convolution: out = (in − 1) · stride + size − 2 · padding.
struct DeconvolutionalLayer: DarknetLayer {
  static let source = SourceLayer(
    "deconvolutional", "deconv", becomes: "convolution with isDeconvolution, batchnorm, activation")
  static let options = [
    "filters", "size", "stride", "pad", "padding", "batch_normalize", "activation",
  ]

  private let filters: Int
  private let window: WindowOptions
  private let isNormalized: Bool
  private let activation: ActivationFunction

  init(_ section: ConfigurationSection) throws {
    filters = try section.int("filters", default: 1, in: 1...WindowOptions.filterLimit)
    window = try WindowOptions(section)
    isNormalized = try section.bool("batch_normalize")
    activation = ActivationFunction(section, default: "logistic")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let size = window.size
    func length(_ extent: Int) throws -> Int {
      let full = try checkedProduct([extent - 1, window.strideX], limit: Limits.dimension) + size
      try call.require(
        full > 2 * window.padding,
        "its output would be empty after removing the padding of \(window.padding)")
      return full - 2 * window.padding
    }
    let weights = try ConvolutionWeights(
      filters: filters, kernel: [input.channels, filters, size, size], isNormalized: isNormalized,
      call, from: &network)
    var convolution = Convolution(
      [filters, input.channels, size, size], stride: [window.strideX, window.strideX],
      dilation: [], border: [window.padding, window.padding])
    convolution.isDeconvolution = true
    let blob = network.add(convolution, weights, input.blob, call)
    return try network.activate(
      activation,
      DarknetTensor(blob, filters, length(input.height), length(input.width)), call)
  }
}
