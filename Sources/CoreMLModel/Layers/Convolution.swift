import TensorCore

/// out[o, y, x] = bias[o] + Σ weights[o, i, r, s] · in[i, y·stride + r·dilation − top, …], or its
/// transpose.
///
/// Weights are `[outputChannels, kernelChannels, h, w]`, for a deconvolution `[kernelChannels,
/// outputChannels / nGroups, h, w]`. A second input may provide them instead.
package struct Convolution: DynamicLayer {
  package enum Padding: Sendable, Equatable {
    case valid(ValidPadding)
    case same(SamePadding)
  }

  package var outputChannels = 0
  package var kernelChannels = 0
  package var nGroups = 0
  package var kernelSize: [Int] = []
  package var stride: [Int] = []
  package var dilationFactor: [Int] = []
  package var padding: Padding?
  package var isDeconvolution = false
  package var hasBias = false
  package var kernel: Weights?
  package var bias: Weights?
  /// `[H, W]` of a deconvolution's output; overrides the padding.
  package var outputShape: [Int] = []

  package init() {}

  package static let fields: Fields = [
    .int("outputChannels", \.outputChannels),
    .int("kernelChannels", \.kernelChannels),
    .int("nGroups", \.nGroups),
    .ints("kernelSize", \.kernelSize),
    .ints("stride", \.stride),
    .ints("dilationFactor", \.dilationFactor),
    .choice(
      \.padding,
      [
        .message(
          "valid", { .valid($0) }, { if case .valid(let value) = $0 { value } else { nil } }),
        .message("same", { .same($0) }, { if case .same(let value) = $0 { value } else { nil } }),
      ]),
    .bool("isDeconvolution", \.isDeconvolution),
    .bool("hasBias", \.hasBias),
    // A second input may provide the weights instead.
    .weights(
      "weights", \.kernel, isNeeded: { _ in false }, channelAxis: { $0.isDeconvolution ? 1 : 0 },
      \.kernelShape),
    .weights("bias", \.bias, isNeeded: \.hasBias) { [$0.outputChannels] },
    .ints("outputShape", \.outputShape),
  ]

  package static let inputCount = 1...2

  package static let sizesDependOnValues = false

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    with(\.kernel, Weights(values[0]))
  }

  package var effectiveGroups: Int { nGroups == 0 ? 1 : nGroups }

  /// Kernel, strides and dilations `[h, w]`. By the specification, a deconvolution ignores its
  /// dilation; Apple's tests of coremltools (`TestConvTranspose`) expect Core ML to apply it.
  package func effectiveSizes() throws -> (kernel: [Int], strides: [Int], dilations: [Int]) {
    (
      try sizePair(kernelSize, 3, "kernelSize"), try sizePair(stride, 1, "stride"),
      try sizePair(dilationFactor, 1, "dilationFactor")
    )
  }

  /// The number of input channels.
  package var inputChannels: Int {
    get throws {
      isDeconvolution
        ? kernelChannels
        : try checkedProduct([kernelChannels, effectiveGroups], limit: Limits.dimension)
    }
  }

  package var kernelShape: [Int] {
    let sizes = kernelSize.count == 2 ? kernelSize : [3, 3]
    return isDeconvolution
      ? [kernelChannels, outputChannels / max(1, effectiveGroups)] + sizes
      : [outputChannels, kernelChannels] + sizes
  }

  /// `[h, w]` of the output for an input of this size.
  package func outputSize(_ size: [Int]) throws -> [Int] {
    let (kernel, strides, dilations) = try effectiveSizes()
    if isDeconvolution, !outputShape.isEmpty {
      return try sizePair(outputShape, 1, "outputShape")
    }
    let amounts = try validAmounts()
    return try (0..<2).map { axis in
      let extent = try checkedSum(
        [checkedProduct([kernel[axis] - 1, dilations[axis]], limit: Limits.dimension), 1])
      if case .same = padding {
        return isDeconvolution
          ? try checkedProduct([size[axis], strides[axis]], limit: Limits.dimension)
          : (size[axis] + strides[axis] - 1) / strides[axis]
      }
      let added = axis == 0 ? amounts.top + amounts.bottom : amounts.left + amounts.right
      if isDeconvolution {
        let full = try checkedSum(
          [checkedProduct([size[axis] - 1, strides[axis]], limit: Limits.dimension), extent])
        return full - added
      }
      try require(
        size[axis] + added >= extent,
        "a kernel that spans \(extent) does not match the input's \(size[axis]) and padding of \(added)",
        field: "kernelSize")
      return (size[axis] + added - extent) / strides[axis] + 1
    }
  }

  /// The padding around an input of `[h, w]`; for a deconvolution, the amounts cropped at each side
  /// of the full result, (in − 1) · stride + kernel.
  package func explicitPadding(_ size: [Int]) throws -> ExplicitPadding {
    let (kernel, strides, dilations) = try effectiveSizes()
    let output = try outputSize(size)
    func total(_ axis: Int) throws -> Int {
      let reach = try checkedSum([
        checkedProduct([(isDeconvolution ? size : output)[axis] - 1, strides[axis]]),
        checkedProduct([kernel[axis] - 1, dilations[axis]]), 1,
      ])
      return reach - (isDeconvolution ? output : size)[axis]
    }
    if case .same(let same) = padding { return try same.split(height: total(0), width: total(1)) }
    if isDeconvolution, !outputShape.isEmpty {
      return try SamePadding().split(height: total(0), width: total(1))
    }
    return try validAmounts()
  }

  private func validAmounts() throws -> ExplicitPadding {
    guard case .valid(let valid) = padding, let amounts = valid.paddingAmounts else {
      return ExplicitPadding()
    }
    return try amounts.resolved("valid.paddingAmounts")
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    let groups = effectiveGroups
    try require(
      groups > 0 && outputChannels % groups == 0
        && (!isDeconvolution || kernelChannels % groups == 0),
      "\(outputChannels) output channels cannot be split into \(groups) groups", field: "nGroups")
    let expected = try inputChannels
    try require(
      shape.channels == expected,
      "the input has \(shape.channels) channels, but the kernel takes \(expected)",
      field: "kernelChannels")
    let size = try outputSize([shape.height, shape.width])
    shape.channels = outputChannels
    return [try shape.resized(size[0], size[1]).checked]
  }

  /// Each weight `[o, i, h, w]` is used once per element of output channel o; for a deconvolution,
  /// each weight `[i, o, h, w]` once per element of input channel i.
  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.product(isDeconvolution ? inputs.first : outputs.first, kernelShape.dropFirst())
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(outputChannels > 0, "outputChannels", "0")
    faults.require(kernelChannels > 0, "kernelChannels", "0")
    faults.catching { _ = try effectiveSizes() }
    faults.require(
      padding != nil, "ConvolutionPaddingType", "the padding is neither valid nor same")
    if case .valid(let valid) = padding, let amounts = valid.paddingAmounts {
      faults.catching { _ = try amounts.resolved("valid.paddingAmounts") }
    }
    faults.require(
      [0, 2].contains(outputShape.count), "outputShape",
      "\(outputShape) is invalid; two sizes are needed")
    faults.require(
      outputChannels % max(1, effectiveGroups) == 0, "nGroups",
      "\(outputChannels) output channels cannot be split into \(effectiveGroups) groups")
    if isDeconvolution, effectiveGroups > 1,
      case .linear(let scale, _)? = kernel?.quantization?.kind
    {
      faults.require(
        scale.count == 1, "weights.quantization.linearQuantization.scale",
        "\(scale.count) values for a deconvolution in groups; 1 is needed")
    }
  }
}
