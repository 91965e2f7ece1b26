import CoreMLModel
import ImportSupport
import TensorCore

/// The elements of every window as C · kh · kw channels.
enum Im2col: SingleInputConverter {
  static let source = SourceLayer(
    "Im2col", becomes: "convolution with one group per channel and unit kernels",
    options: "`kernel_size`, `stride`, `pad`, `dilation`, `axis`; one and two axes",
    refused: "kernels of three axes")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let settings = try ConvolutionSettings(layer, input, .unfolding)
    try layer.require(
      settings.dimensions <= 2, unsupported: "windows with three axes are not supported",
      field: "convolution_param.kernel_size")
    let image = try settings.placed(input, &network)
    var convolution = settings.convolution(
      kernel: settings.kernel, stride: settings.stride, padding: settings.padding,
      dilation: settings.dilation)
    let area = settings.kernel.reduce(1, *)
    var units = [Float](
      repeating: 0,
      count: try computedCount([settings.outputs, area], limit: Limits.computedElements))
    for output in 0..<settings.outputs { units[output * area + output % area] = 1 }
    convolution.kernel = Weights(units)
    return network.add(
      convolution, image, as: layer, shape: try settings.outputShape(input, isDeconvolution: false))
  }
}
