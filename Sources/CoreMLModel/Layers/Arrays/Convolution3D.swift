import TensorCore

/// Convolution over depth, height and width of `[B, C, D, H, W]`, or its transpose.
package struct Convolution3D: ArrayLayer {
  package enum PaddingType: Int, Sendable, CaseIterable {
    /// The amounts in the message.
    case custom = 0
    case valid = 1
    case same = 2
  }

  package static let typeName = "convolution3d"
  package static let specificationVersion = 5
  package static let minimumRank = 5

  package var outputChannels = 0
  package var inputChannels = 0
  /// 0 means 1.
  package var nGroups = 0
  package var kernelDepth = 0
  package var kernelHeight = 0
  package var kernelWidth = 0
  /// 0 means 1, as for the other strides and dilations.
  package var strideDepth = 0
  package var strideHeight = 0
  package var strideWidth = 0
  package var dilationDepth = 0
  package var dilationHeight = 0
  package var dilationWidth = 0
  package var hasBias = false
  /// `[outputChannels, inputChannels / groups, D, H, W]`, of a deconvolution
  /// `[inputChannels, outputChannels / groups, D, H, W]`.
  package var kernel: Weights?
  package var bias: Weights?
  package var paddingType = PaddingType.custom
  package var customPaddingFront = 0
  package var customPaddingBack = 0
  package var customPaddingTop = 0
  package var customPaddingBottom = 0
  package var customPaddingLeft = 0
  package var customPaddingRight = 0
  package var isDeconvolution = false
  /// D, H, W of a deconvolution's output.
  package var outputShape: [Int] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .int("outputChannels", \.outputChannels),
    .int("inputChannels", \.inputChannels),
    .int("nGroups", \.nGroups),
    .int("kernelDepth", \.kernelDepth),
    .int("kernelHeight", \.kernelHeight),
    .int("kernelWidth", \.kernelWidth),
    .int("strideDepth", \.strideDepth),
    .int("strideHeight", \.strideHeight),
    .int("strideWidth", \.strideWidth),
    .int("dilationDepth", \.dilationDepth),
    .int("dilationHeight", \.dilationHeight),
    .int("dilationWidth", \.dilationWidth),
    .bool("hasBias", \.hasBias),
    .weights(
      "weights", \.kernel, channelAxis: { $0.isDeconvolution ? 1 : 0 }, \.kernelShape),
    .weights("bias", \.bias, isNeeded: \.hasBias) { [$0.outputChannels] },
    .value("paddingType", \.paddingType),
    .int("customPaddingFront", \.customPaddingFront),
    .int("customPaddingBack", \.customPaddingBack),
    .int("customPaddingTop", \.customPaddingTop),
    .int("customPaddingBottom", \.customPaddingBottom),
    .int("customPaddingLeft", \.customPaddingLeft),
    .int("customPaddingRight", \.customPaddingRight),
    .bool("isDeconvolution", \.isDeconvolution),
    .ints("outputShape", \.outputShape),
  ]

  package var groups: Int { nGroups == 0 ? 1 : nGroups }

  /// The window along D, H and W for an input of these sizes.
  package func windows(_ size: [Int]) throws -> [AxisWindow] {
    let kernels = [kernelDepth, kernelHeight, kernelWidth]
    let strides = [strideDepth, strideHeight, strideWidth].map { $0 == 0 ? 1 : $0 }
    let dilations = [dilationDepth, dilationHeight, dilationWidth].map { $0 == 0 ? 1 : $0 }
    let custom = [
      (customPaddingFront, customPaddingBack), (customPaddingTop, customPaddingBottom),
      (customPaddingLeft, customPaddingRight),
    ]
    try require(
      !isDeconvolution || outputShape.isEmpty || outputShape.count == 3,
      "\(outputShape), three sizes are needed", field: "outputShape")
    return try (0..<3).map { axis in
      let window = try AxisWindow(
        kernel: kernels[axis], stride: strides[axis], dilation: dilations[axis],
        padding: paddingType == .custom ? custom[axis] : (0, 0),
        isSame: paddingType == .same, size: size[axis],
        isTransposed: isDeconvolution,
        output: isDeconvolution && outputShape.count == 3 ? outputShape[axis] : nil)
      return window
    }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      shape.count == 5 && shape[1] == inputChannels && outputChannels > 0,
      "an input of shape \(shape), [B, \(inputChannels), D, H, W] is needed", field: "inputChannels"
    )
    try require(
      groups > 0 && inputChannels % groups == 0 && outputChannels % groups == 0,
      "\(inputChannels) and \(outputChannels) channels cannot be split into \(groups) groups",
      field: "nGroups")
    let sizes = try windows(Array(shape[2...])).map(\.output)
    return [try ArrayShape.checked([shape[0], outputChannels] + sizes)]
  }

  var kernelShape: [Int] {
    let parts = max(1, groups)
    return
      (isDeconvolution
      ? [inputChannels, outputChannels / parts] : [outputChannels, inputChannels / parts])
      + [kernelDepth, kernelHeight, kernelWidth]
  }

  /// As of `Convolution`.
  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.product(isDeconvolution ? inputs.first : outputs.first, kernelShape.dropFirst())
  }

  package func check(_ faults: inout Faults) {
    faults.require(outputChannels > 0, "outputChannels", "\(outputChannels)")
    faults.require(inputChannels > 0, "inputChannels", "\(inputChannels)")
    faults.require(nGroups >= 0, "nGroups", "\(nGroups)")
    faults.require(
      min(kernelDepth, kernelHeight, kernelWidth) > 0, "kernelDepth",
      "a kernel of \(kernelDepth) × \(kernelHeight) × \(kernelWidth)")
  }
}
