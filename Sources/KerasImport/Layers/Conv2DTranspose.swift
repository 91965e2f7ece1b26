import CoreMLModel
import TensorCore

/// The gradient of a convolution with respect to its input, used forwards.
///
/// Without `output_padding` a length grows to length · stride (same) or
/// length · stride + max(kernel − stride, 0) (valid); with it, to
/// (length − 1) · stride + kernel − 2 · pad + output_padding, pad being kernel / 2 (same) or 0.
struct Conv2DTranspose: KerasLayer {
  static let classNames = [
    "Conv2DTranspose", "Deconvolution2D", "Deconv2D", "Convolution2DTranspose",
  ]

  private let filters: Int
  private let settings: ConvolutionSettings
  private let outputPadding: [Int]?
  /// Keras 1 keeps the kernel of a convolution, [h, w, in, out].
  private let hasConvolutionKernel: Bool
  /// Keras 1 states the result.
  private let statedShape: [Int?]?

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    settings = try ConvolutionSettings(configuration)
    outputPadding =
      configuration.field("output_padding") == nil
      ? nil : try configuration.pair("output_padding", atLeast: 0)
    hasConvolutionKernel = configuration.field("nb_filter") != nil
    statedShape = ModelDefinition.Layer.shape(configuration.fields["output_shape"])
  }

  var weights: [WeightSlot] {
    [WeightSlot("kernel")] + (settings.hasBias ? [WeightSlot("bias")] : [])
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.image(call, &network)
    let channels = input.isGuess ? nil : input.size(of: .channel)
    let size = settings.kernelSize
    let kernel: FloatValues
    if settings.isTheanoKernel {
      // [filters, channels, h, w] to [channels, filters, h, w]
      kernel = try call.weight("kernel", [filters, channels, size[0], size[1]])
        .transposed([1, 0, 2, 3])
    } else if hasConvolutionKernel {
      let stored = try call.weight("kernel", size.map { $0 } + [channels, filters])
      kernel = settings.turned(stored).transposed([2, 3, 0, 1])
    } else {
      let stored = try call.weight("kernel", size.map { $0 } + [filters, channels])
      kernel = settings.turned(stored).transposed([3, 2, 0, 1])
    }
    var convolution = settings.convolution(
      outputChannels: filters, kernelChannels: kernel.shape[0], groups: 1)
    convolution.isDeconvolution = true
    convolution.kernel = Weights(kernel)
    try convolution.fillGaps(
      kernel: size, dilation: settings.dilation, count: kernel.shape[0] * kernel.shape[1])
    convolution.hasBias = settings.hasBias
    if settings.hasBias { convolution.bias = Weights(try call.weight("bias", [filters])) }
    var output = settings.output(input, channels: filters)
    var lengths: [Int] = []
    for (axis, place) in [BlobAxis.height, .width].enumerated() {
      guard let index = input.index(of: place) else { continue }
      let stated = statedShape.flatMap { $0.count == output.rank ? $0[index] : nil }
      output.shape[index] = stated ?? length(input.shape[index], axis: axis)
      if let length = output.shape[index] { lengths.append(length) }
    }
    guard lengths.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }) else {
      throw call.error("its output would be \(output.shapeText)")
    }
    if lengths.count == 2 { convolution.outputShape = lengths }
    output.blob = network.add(call.name, convolution, [input.blob])
    return [try network.activate(settings.activation, output, call)]
  }

  private func length(_ input: Int?, axis: Int) -> Int? {
    input.map {
      settings.border.transposedLength(
        $0, extent: settings.extents[axis], stride: settings.strides[axis],
        outputPadding: outputPadding?[axis])
    }
  }
}

extension LayerConfiguration.Border {
  /// Length of the output of a transposed convolution.
  func transposedLength(_ input: Int, extent: Int, stride: Int, outputPadding: Int?) -> Int {
    guard let outputPadding else {
      return self == .same ? input * stride : input * stride + max(extent - stride, 0)
    }
    let pad = self == .same ? extent / 2 : 0
    return (input - 1) * stride + extent - 2 * pad + outputPadding
  }
}

extension Convolution {
  /// Elements of a kernel with its gaps filled.
  private static let spreadLimit = 1 << 26

  /// Core ML's deconvolution has no gaps in its kernel: zeros fill them.
  ///
  /// - Parameter count: the number of planes of the kernel, height × width each.
  mutating func fillGaps(kernel size: [Int], dilation: [Int], count outer: Int) throws {
    dilationFactor = [1, 1]
    guard dilation != [1, 1], let source = kernel?.floatValue.array() else { return }
    let extents = zip(size, dilation).map { ($0 - 1) * $1 + 1 }
    let count = try checkedProduct([outer] + extents, limit: Self.spreadLimit)
    var target = [Float](repeating: 0, count: count)
    for plane in 0..<outer {
      for y in 0..<size[0] {
        for x in 0..<size[1] {
          let row = plane * extents[0] + y * dilation[0]
          target[row * extents[1] + x * dilation[1]] =
            source[(plane * size[0] + y) * size[1] + x]
        }
      }
    }
    kernelSize = extents
    self.kernel = Weights(target)
  }
}
