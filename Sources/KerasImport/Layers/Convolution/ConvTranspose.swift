import CoreMLModel
import ImportSupport
import TensorCore

/// The transpose of a convolution.
///
/// Without `output_padding`, the output length is length · stride (same) or length · stride +
/// max(kernel − stride, 0) (valid). With it, the output length is (length − 1) · stride + kernel −
/// 2 · pad + output_padding, where pad is kernel / 2 (same) or 0.
enum ConvTranspose: KerasLayer {
  static let classes = [
    SourceLayer(
      "Conv1DTranspose", "Convolution1DTranspose", becomes: "convolution with isDeconvolution",
      options: "`output_padding`, `dilation_rate`"),
    SourceLayer(
      "Conv2DTranspose", "Deconvolution2D", "Deconv2D", "Convolution2DTranspose",
      becomes: "convolution with isDeconvolution and outputShape",
      options: "`output_padding`; `dilation_rate`: zeros between the kernel's elements"),
  ]

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let filters = try configuration.int("filters", "nb_filter")
    let settings = try TransposedSettings(configuration)
    let convolution = settings.convolution
    // Whether the kernel is that of a convolution, [h, w, in, out], as in Keras 1.
    let hasConvolutionKernel =
      configuration.field("nb_filter") != nil || convolution.isTheanoKernel
    // The output shape that Keras 1 states.
    let statedShape = ModelDefinition.Layer.shape(configuration["output_shape"])
    return conversion(convolution.slots("kernel")) { call, network in
      let input = try convolution.axes.input(call, &network)
      let channels = input.isShapeAssumed ? nil : input.size(of: .channel)
      var output = convolution.axes.resized(
        input, to: settings.lengths(convolution.axes.lengths(input)), channels: filters)
      if let statedShape, statedShape.count == output.rank {
        var other = output
        other.shape = statedShape
        let stated = zip(convolution.axes.lengths(output), convolution.axes.lengths(other))
        output = convolution.axes.resized(output, to: stated.map { $1 ?? $0 })
      }
      var layer = try settings.layer(
        hasConvolutionKernel
          ? convolution.kernel(call, inputs: channels, outputs: filters).transposed([1, 0, 2, 3])
          : convolution.transposedKernel(call, inputs: channels, outputs: filters))
      layer.bias = try convolution.bias(call, filters)
      layer.hasBias = layer.bias != nil
      let lengths = convolution.axes.lengths(output).compactMap { $0 }
      guard lengths.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }) else {
        throw call.error("its output would be \(output.shapeText)")
      }
      if lengths.count == convolution.axes.count { layer.outputShape = convolution.planar(lengths) }
      output.blob = network.add(call.name, layer, [input.blob])
      return [try network.activate(convolution.activation, output, call)]
    }
  }
}

extension ConvolutionSettings {
  /// The kernel as `[inputs, outputs, height, width]`.
  fileprivate func transposedKernel(
    _ call: LayerCall, inputs: Int?, outputs: Int
  ) throws -> FloatValues {
    let stored = try flipped(call.weight("kernel", kernelSize + [outputs, inputs]))
    return stored.shaped(planar(kernelSize) + stored.shape.suffix(2)).transposed([3, 2, 0, 1])
  }
}

/// Settings that transposed convolutions share.
struct TransposedSettings: Sendable {
  let convolution: ConvolutionSettings
  private let outputPadding: [Int]?

  /// The maximum number of kernel elements after its gaps are filled.
  private static let spreadLimit = 1 << 26

  init(_ configuration: LayerConfiguration) throws {
    convolution = try ConvolutionSettings(configuration)
    outputPadding =
      configuration.field("output_padding") == nil
      ? nil : try configuration.sizes("output_padding", count: convolution.axes.count, atLeast: 0)
  }

  func lengths(_ lengths: [Int?]) -> [Int?] {
    lengths.enumerated().map { axis, length in
      length.map {
        convolution.border.transposedLength(
          $0, extent: convolution.extents[axis], stride: convolution.strides[axis],
          outputPadding: outputPadding?[axis])
      }
    }
  }

  /// Core ML's deconvolution, which lacks dilation; zeros fill the gaps in the kernel instead.
  ///
  /// - Parameter kernel: `[inputs, outputs, height, width]`
  func layer(_ kernel: FloatValues) throws -> Convolution {
    var layer = convolution.convolution(kernel)
    (layer.kernelChannels, layer.outputChannels) = (kernel.shape[0], kernel.shape[1])
    layer.isDeconvolution = true
    let dilation = layer.dilationFactor
    guard dilation != [1, 1] else { return layer }
    layer.dilationFactor = [1, 1]
    let size = layer.kernelSize
    let extents = zip(size, dilation).map { ($0 - 1) * $1 + 1 }
    let planes = kernel.shape[0] * kernel.shape[1]
    let source = try kernel.array()
    var target = [Float](
      repeating: 0, count: try computedCount([planes] + extents, limit: Self.spreadLimit))
    for row in 0..<planes * size[0] {
      let start = (row / size[0] * extents[0] + row % size[0] * dilation[0]) * extents[1]
      for x in 0..<size[1] { target[start + x * dilation[1]] = source[row * size[1] + x] }
    }
    layer.kernelSize = extents
    layer.kernel = Weights(target)
    return layer
  }
}
