import CoreMLModel
import ImportSupport
import TensorCore

/// The elements of every window as channels: C · kh · kw of them.
enum Im2col: SingleInputConverter {
  static let typeNames = ["Im2col"]
  static let documentation = DocumentationRow(
    "convolution of as many groups as channels, with unit kernels",
    options: "`kernel_size`, `stride`, `pad`, `dilation`, `axis`; one and two axes",
    refused: "kernels of three axes")

  static func convert(
    _ layer: CaffeLayer, _ input: CaffeTensor, into network: inout CaffeNetworkWriter
  ) throws -> CaffeTensor {
    let settings = try ConvolutionSettings(layer, input, .unfolding)
    guard settings.dimensions <= 2 else {
      throw layer.unsupported(
        "windows of three axes", field: "convolution_param.kernel_size")
    }
    let image = try settings.placed(input, &network)
    var convolution = settings.convolution(
      kernel: settings.kernel, stride: settings.stride, padding: settings.padding,
      dilation: settings.dilation)
    let area = settings.kernel.reduce(1, *)
    var units = [Float](
      repeating: 0,
      count: try checkedProduct([settings.outputs, area], limit: Limits.computedElements))
    for output in 0..<settings.outputs { units[output * area + output % area] = 1 }
    convolution.kernel = Weights(units)
    return image.with(
      network.add(layer.name, convolution, [image.blob], to: layer.tops[0]),
      shape: try settings.outputShape(input, isDeconvolution: false))
  }
}
