import CoreMLModel
import ImportSupport
import TensorCore

/// The transpose of a convolution.
enum Deconvolution: SingleInputConverter {
  static let source = SourceLayer(
    "Deconvolution",
    becomes: "convolution with isDeconvolution; with three axes convolution3d (specification 5)",
    options: "those of Convolution; `dilation`: a kernel with zeros in between",
    refused: "dilation or several groups, with a kernel of three axes")

  static func inputAxes(_ layer: LayerCall, bottom index: Int, shape: [Int]) -> [Int]? {
    ConvolutionLayer.inputAxes(layer, bottom: index, shape: shape)
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let settings = try ConvolutionSettings(layer, input)
    let shape = try settings.outputShape(input, isDeconvolution: true)
    if settings.dimensions == 3 { return try settings.volume(input, shape, &network) }
    let image = try settings.placed(input, &network)
    let ones = settings.kernel.map { _ in 1 }
    var convolution = settings.convolution(
      kernel: try settings.extents, stride: settings.stride, padding: settings.padding,
      dilation: ones)
    convolution.isDeconvolution = true
    convolution.kernelChannels = settings.channels
    convolution.kernel = Weights(try settings.spreadWeights())
    convolution.bias = try settings.bias()
    return network.add(convolution, image, as: layer, shape: shape)
  }
}

extension ConvolutionSettings {
  /// The kernel with zeros in its gaps, because Core ML's deconvolution does not support dilation.
  fileprivate func spreadWeights() throws -> FloatValues {
    let weights = try weights(isDeconvolution: true)
    if dilation.allSatisfy({ $0 == 1 }) { return weights }
    let source = try weights.array()
    let extents = try extents
    let (rows, columns) = dimensions == 1 ? (1, kernel[0]) : (kernel[0], kernel[1])
    let (down, across) = dimensions == 1 ? (1, dilation[0]) : (dilation[0], dilation[1])
    let (height, width) = dimensions == 1 ? (1, extents[0]) : (extents[0], extents[1])
    let pairs = source.count / (rows * columns)
    var result = [Float](
      repeating: 0,
      count: try computedCount([pairs, height, width], limit: Limits.computedElements))
    for pair in 0..<pairs {
      for row in 0..<rows {
        for column in 0..<columns {
          result[(pair * height + row * down) * width + column * across] =
            source[(pair * rows + row) * columns + column]
        }
      }
    }
    return FloatValues(result)
  }

  fileprivate func volume(
    _ input: CaffeTensor, _ shape: [Int], _ network: inout CaffeWriter
  ) throws -> CaffeTensor {
    try layer.require(
      groups == 1 && dilation == [1, 1, 1] && channelAxis == 1,
      unsupported: "a deconvolution of three axes with \(groups) groups, dilation \(dilation)",
      field: "convolution_param")
    let volume = network.placed(input, axes: [0, 1, 2, 3, 4], for: layer.name)
    var convolution = Convolution3D()
    convolution.outputChannels = outputs
    convolution.inputChannels = channels
    convolution.nGroups = 1
    convolution.window.kernel = kernel
    convolution.window.stride = stride
    convolution.window.dilation = [1, 1, 1]
    convolution.window.padding = padding.flatMap { [$0, $0] }
    convolution.isDeconvolution = true
    convolution.hasBias = hasBias
    convolution.kernel = Weights(try weights(isDeconvolution: true))
    convolution.bias = try bias()
    return network.add(convolution, volume, as: layer, shape: shape)
  }
}
