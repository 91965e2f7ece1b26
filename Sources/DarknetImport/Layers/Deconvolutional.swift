import CoreMLModel
import ImportSupport
import TensorCore

extension DarknetLayer {
  /// The transpose of a convolution: out = (in − 1) · stride + size − 2 · padding.
  static let deconvolutional = DarknetLayer(
    SourceLayer(
      "deconvolutional", "deconv",
      becomes: "convolution with isDeconvolution, batchnorm, activation"),
    options: [
      "filters", "size", "stride", "pad", "padding", "batch_normalize", "activation",
    ]
  ) { section in
    let filters = try section.int("filters", default: 1, in: 1...WindowOptions.filterLimit)
    let window = try WindowOptions(section)
    let isNormalized = try section.bool("batch_normalize")
    let activation = ActivationFunction(section, default: "logistic")
    return { call, network in
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
}
