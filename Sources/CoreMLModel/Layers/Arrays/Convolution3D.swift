import TensorCore

/// Windows over D, H and W, which the specification stores in separate fields.
package struct VolumeWindow: Sendable, Equatable {
  package enum PaddingType: Int, Sendable, CaseIterable {
    /// The padding amounts are in the message.
    case custom = 0
    case valid = 1
    case same = 2
  }

  package var kernel = [0, 0, 0]
  /// 0 means 1, also for the dilations.
  package var stride = [0, 0, 0]
  package var dilation = [0, 0, 0]
  package var paddingType = PaddingType.custom
  /// Front, back, top, bottom, left, right.
  package var padding = [0, 0, 0, 0, 0, 0]

  static func fields(isDilated: Bool) -> [Field<Self>] {
    let axes = ["Depth", "Height", "Width"]
    let sides = ["Front", "Back", "Top", "Bottom", "Left", "Right"]
    func ints(
      _ name: String, _ parts: [String], _ path: WritableKeyPath<Self, [Int]>
    ) -> [Field<Self>] {
      parts.indices.map { .int(name + parts[$0], path.appending(path: \.[$0])) }
    }
    var fields = ints("kernel", axes, \.kernel) + ints("stride", axes, \.stride)
    if isDilated { fields += ints("dilation", axes, \.dilation) }
    fields += ints("customPadding", sides, \.padding)
    return fields + [.value("paddingType", \.paddingType)]
  }

  /// The padding before and after an axis, from the amounts in the message.
  func amounts(_ axis: Int) -> (Int, Int) {
    paddingType == .custom ? (padding[2 * axis], padding[2 * axis + 1]) : (0, 0)
  }

  /// The window along D, H or W for an input of this size.
  func along(
    _ axis: Int, size: Int, isTransposed: Bool = false, output: Int? = nil
  ) throws -> AxisWindow {
    var window = try AxisWindow(
      kernel: kernel[axis], stride: stride[axis] == 0 ? 1 : stride[axis],
      dilation: dilation[axis] == 0 ? 1 : dilation[axis])
    let (padding, isSame) = (amounts(axis), paddingType == .same)
    if isTransposed {
      try window.fit(transposedTo: size, padding: padding, isSame: isSame, output: output)
    } else {
      try window.fit(size, padding: padding, isSame: isSame)
    }
    return window
  }

  func check(_ what: String, _ faults: inout ValidationIssues) {
    faults.require(
      kernel.allSatisfy { $0 > 0 }, "kernelDepth",
      "\(what) of \(kernel[0]) × \(kernel[1]) × \(kernel[2])")
  }
}

/// Convolution over depth, height and width of `[B, C, D, H, W]`, or its transpose.
package struct Convolution3D: ArrayLayer {
  package static let typeName = "convolution3d"
  package static let specificationVersion = 5
  package static let minimumRank = 5

  package var outputChannels = 0
  package var inputChannels = 0
  /// 0 means 1.
  package var nGroups = 0
  package var window = VolumeWindow()
  package var hasBias = false
  /// `[outputChannels, inputChannels / groups, D, H, W]`; for a deconvolution `[inputChannels,
  /// outputChannels / groups, D, H, W]`.
  package var kernel: Weights?
  package var bias: Weights?
  package var isDeconvolution = false
  /// `[D, H, W]` of a deconvolution's output.
  package var outputShape: [Int] = []

  package init() {}

  package static let fields: Fields =
    [
      .int("outputChannels", \.outputChannels),
      .int("inputChannels", \.inputChannels),
      .int("nGroups", \.nGroups),
      .bool("hasBias", \.hasBias),
      .weights(
        "weights", \.kernel, channelAxis: { $0.isDeconvolution ? 1 : 0 }, \.kernelShape),
      .weights("bias", \.bias, isNeeded: \.hasBias) { [$0.outputChannels] },
      .bool("isDeconvolution", \.isDeconvolution),
      .ints("outputShape", \.outputShape),
    ]
    + VolumeWindow.fields(isDilated: true).map { $0.lifted(to: \.window) }

  package var groups: Int { nGroups == 0 ? 1 : nGroups }

  /// The windows along D, H and W for an input of these sizes.
  package func windows(_ size: [Int]) throws -> [AxisWindow] {
    try require(
      !isDeconvolution || outputShape.isEmpty || outputShape.count == 3,
      "\(outputShape) is invalid; three sizes are needed", field: "outputShape")
    return try (0..<3).map { axis in
      try window.along(
        axis, size: size[axis], isTransposed: isDeconvolution,
        output: isDeconvolution && outputShape.count == 3 ? outputShape[axis] : nil)
    }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      shape.count == 5 && shape[1] == inputChannels && outputChannels > 0,
      "the input has the shape \(shape); expected [B, \(inputChannels), D, H, W]",
      field: "inputChannels"
    )
    try require(
      groups > 0 && inputChannels % groups == 0 && outputChannels % groups == 0,
      "\(inputChannels) and \(outputChannels) channels cannot be split into \(groups) groups",
      field: "nGroups")
    let sizes = try windows(Array(shape[2...])).map(\.output)
    return [try ArrayShape.checked([shape[0], outputChannels] + sizes)]
  }

  package var kernelShape: [Int] {
    let parts = max(1, groups)
    return
      (isDeconvolution
      ? [inputChannels, outputChannels / parts] : [outputChannels, inputChannels / parts])
      + window.kernel
  }

  /// Counted as for `Convolution`.
  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.product(isDeconvolution ? inputs.first : outputs.first, kernelShape.dropFirst())
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(outputChannels > 0, "outputChannels", "\(outputChannels)")
    faults.require(inputChannels > 0, "inputChannels", "\(inputChannels)")
    faults.require(nGroups >= 0, "nGroups", "\(nGroups)")
    window.check("a kernel", &faults)
    faults.require(
      (kernel?.rawValue.count ?? 0) == 0, "weights",
      "this layer does not support compressed weights")
  }
}
