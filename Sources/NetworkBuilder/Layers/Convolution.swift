import CoreMLModel
import TensorCore

/// out[y, x, o] = bias[o] + Σ weights[o, r, s, i] · in[y · stride + r · dilation − top, …, i]
///
/// The weights are `[channels, kernel height, kernel width, input channels / groups]`.
public final class Convolution: Layer, @unchecked Sendable {
  /// - Parameters:
  ///   - kernel: its width and height.
  ///   - channels: channels of the result.
  ///   - stride: steps between windows, across and down.
  ///   - dilation: steps between a kernel's elements, across and down.
  ///   - groups: number of groups that the channels of input and result are split into; each group
  ///     of the result depends on one group of the input.
  ///   - bias: whether one number per channel is added.
  ///   - activation: applied to the result.
  public init(
    kernel: (Int, Int), channels: Int, stride: (Int, Int) = (1, 1), padding: Padding = .same,
    dilation: (Int, Int) = (1, 1), groups: Int = 1, bias: Bool = true,
    activation: Activation = .linear, name: String? = nil
  ) {
    super.init(
      name,
      ConvolutionDefinition(
        output: .channels(channels, groups: groups), kernel: [kernel.1, kernel.0],
        stride: [stride.1, stride.0], dilation: [dilation.1, dilation.0], padding: padding,
        hasBias: bias, activation: activation))
  }
}

/// A convolution of each channel separately.
///
/// The weights are `[input channels · multiplier, kernel height, kernel width, 1]`; channel c of
/// the input produces channels c · multiplier ..< (c + 1) · multiplier of the result.
public final class DepthwiseConvolution: Layer, @unchecked Sendable {
  /// - Parameters:
  ///   - kernel: its width and height.
  ///   - multiplier: channels of the result per channel of the input.
  ///   - stride: steps between windows, across and down.
  ///   - dilation: steps between a kernel's elements, across and down.
  ///   - bias: whether one number per channel is added.
  ///   - activation: applied to the result.
  public init(
    kernel: (Int, Int), multiplier: Int = 1, stride: (Int, Int) = (1, 1),
    padding: Padding = .same, dilation: (Int, Int) = (1, 1), bias: Bool = true,
    activation: Activation = .linear, name: String? = nil
  ) {
    super.init(
      name,
      ConvolutionDefinition(
        output: .each(multiplier), kernel: [kernel.1, kernel.0], stride: [stride.1, stride.0],
        dilation: [dilation.1, dilation.0], padding: padding, hasBias: bias,
        activation: activation))
  }
}

struct ConvolutionDefinition: LayerDefinition {
  enum Output {
    case channels(Int, groups: Int)
    /// This many channels for each channel of the input.
    case each(Int)
  }

  static let typeName = "Convolution"

  var output: Output
  var kernel: [Int]
  var stride: [Int]
  var dilation: [Int]
  var padding: Padding
  var hasBias: Bool
  var activation: Activation

  var typeName: String { if case .each = output { "DepthwiseConvolution" } else { Self.typeName } }

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    let input = try scope.single(inputs)
    let channels = try input.knownShape()[2]
    let (outputs, groups) = try split(channels)
    var convolution = CoreMLModel.Convolution()
    convolution.outputChannels = outputs
    convolution.kernelChannels = channels / groups
    convolution.nGroups = groups
    convolution.kernelSize = kernel
    convolution.stride = stride
    convolution.dilationFactor = dilation
    convolution.padding = padding.valid.map { .valid($0) } ?? .same(SamePadding())
    _ = try convolution.effectiveSizes()
    let fanIn = try checkedProduct([kernel[0], kernel[1], channels / groups])
    convolution.kernel = Weights(
      try scope.weights(
        .weights, [outputs, kernel[0], kernel[1], channels / groups], fanIn: fanIn
      ).transposed([0, 3, 1, 2]))
    if hasBias {
      convolution.hasBias = true
      convolution.bias = Weights(try scope.weights(.bias, [outputs], fanIn: fanIn))
    }
    let result = try scope.add(convolution, [input], isLast: activation == .linear)
    return try scope.activate(activation, result)
  }

  /// The number of channels of the result, and of groups.
  private func split(_ channels: Int) throws -> (outputs: Int, groups: Int) {
    switch output {
    case .each(let multiplier):
      try requirePositive(multiplier, "multiplier")
      return (try checkedProduct([channels, multiplier], limit: Limits.dimension), channels)
    case .channels(let outputs, let groups):
      try requirePositive(outputs, "channels")
      try requirePositive(groups, "groups")
      try require(
        channels % groups == 0 && outputs % groups == 0, .mismatch,
        "the input's \(channels) and the result's \(outputs) channels cannot both be split into "
          + "equal parts", field: "groups", hint: "\(groups) must divide both")
      return (outputs, groups)
    }
  }
}

/// Throws if a number from the caller is not a valid size.
func requirePositive(_ value: Int, _ field: String) throws {
  try require(
    value > 0 && value <= Limits.dimension, .mismatch, "\(value) is invalid; it must be positive",
    field: field)
}
