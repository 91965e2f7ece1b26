import CoreMLModel
import TensorCore

extension Convolution: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let (_, strides, dilations) = try effectiveSizes()
    let size = Array(x.shape[2...])
    let border = try explicitPadding(size)
    let amounts = [border.top, border.bottom, border.left, border.right]
    let weight =
      layer.inputs.count > 1
      ? try layer.builder.reshape(layer.number(1), to: kernelShape)
      : try layer.weight(kernel, kernelShape, "weight", channelAxis: isDeconvolution ? 1 : 0)
    let offsets = hasBias ? try layer.weight(bias, [outputChannels], "bias") : nil
    var same: SamePadding?
    if case .same(let stated)? = padding { same = stated }
    let output = try LayerCall.merged(layer.fiveOutput())
    let windows = ConvolutionWindows(
      strides: strides, padding: amounts, dilations: dilations, groups: effectiveGroups,
      isTransposed: isDeconvolution, same: layer.openPadding(same, strides))
    return try layer.convolution(x, weight, offsets, windows, shape: output)
  }
}

extension LayerCall {
  /// Padding for unknown sizes; if strides exceed 1, its amounts depend on the sizes.
  func openPadding(_ same: SamePadding?, _ strides: [Int]) -> [(String, Argument)]? {
    builder.hasOpenSizes && strides.contains { $0 > 1 } && same?.asymmetryMode == .bottomRightHeavy
      ? [("pad_type", .text("same"))] : nil
  }
}

extension Convolution3D: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let windows = try windows(Array(x.shape[2...]))
    let weight = try layer.weight(
      kernel, kernelShape, "weight", channelAxis: isDeconvolution ? 1 : 0)
    return try layer.convolution(
      x, weight, hasBias ? layer.weight(bias, [outputChannels], "bias") : nil,
      ConvolutionWindows(
        strides: windows.map(\.stride), padding: windows.flatMap { [$0.before, $0.after] },
        dilations: windows.map(\.dilation), groups: groups, isTransposed: isDeconvolution),
      shape: layer.outputShapes[0])
  }
}

private struct ConvolutionWindows {
  var strides: [Int]
  var padding: [Int]
  var dilations: [Int]
  var groups: Int
  var isTransposed: Bool
  /// Instead of the padding.
  var same: [(String, Argument)]?
}

extension LayerCall {
  /// A convolution of `[N, C, …]` with a result of this shape, or its transpose.
  fileprivate func convolution(
    _ x: Variable, _ weight: Variable, _ bias: Variable?, _ windows: ConvolutionWindows,
    shape output: [Int]
  ) throws -> Variable {
    let (strides, padding, dilations) = (windows.strides, windows.padding, windows.dilations)
    var arguments: [(String, Argument)] = [("weight", .variable(weight))]
    if let bias { arguments.append(("bias", .variable(bias))) }
    arguments += [("strides", .ints(strides))]
    arguments +=
      (windows.isTransposed ? nil : windows.same) ?? [
        ("pad_type", .text("custom")), ("pad", .ints(padding)),
      ]
    arguments += [("dilations", .ints(dilations)), ("groups", .int(windows.groups))]
    if !windows.isTransposed { return try add("conv", x, arguments, shape: output) }
    // The size of the transposed convolution itself; elements beyond it contain only the bias.
    let natural = strides.indices.map { axis -> Int in
      let reach: Int = (x.shape[axis + 2] - 1) * strides[axis]
      let extent: Int = (weight.shape[axis + 2] - 1) * dilations[axis] + 1
      return reach + extent - padding[axis * 2] - padding[axis * 2 + 1]
    }
    let missing = strides.indices.map { output[$0 + 2] - natural[$0] }
    if missing.allSatisfy({ $0 == 0 }) {
      return try add("conv_transpose", x, arguments, shape: output)
    }
    try require(
      missing.allSatisfy { $0 >= 0 }, .unsupported,
      "an output of \(Array(output[2...])), which is smaller than the kernel's")
    arguments.removeAll { $0.0 == "bias" }
    let inner = try add("conv_transpose", x, arguments, shape: Array(output[..<2]) + natural)
    let padded = try add(
      "pad", inner,
      [
        ("pad", .ints(missing.flatMap { [0, $0] })), ("mode", .text("constant")),
        ("constant_val", .number(0)),
      ], shape: output)
    guard let bias else { return padded }
    let sides = [Int](repeating: 1, count: strides.count)
    return try combine("add", padded, reshape(bias, to: [1, bias.shape[0]] + sides))
  }
}

extension InnerProduct: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let five = try layer.five()
    let rows = five[0] * five[1]
    let x = try layer.reshape(layer.number(), to: [rows, inputChannels])
    return try layer.linear(
      x, matrix, inputs: inputChannels, outputs: outputChannels, hasBias ? bias : nil)
  }
}

extension BatchedMatMul: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    if layer.inputs.count == 1 {
      return try layer.linear(
        layer.array(), matrix, inputs: weightMatrixFirstDimension,
        outputs: weightMatrixSecondDimension, hasBias ? bias : nil)
    }
    var (a, b) = (try layer.array(0), try layer.array(1))
    if a.rank == 1 { a = try layer.reshape(a, to: [1] + a.shape) }
    if b.rank == 1 { b = try layer.reshape(b, to: b.shape + [1]) }
    let (m, n) = (a.shape[a.rank - (transposeA ? 1 : 2)], b.shape[b.rank - (transposeB ? 2 : 1)])
    let leading = try ArrayShape.broadcast([a.shape.dropLast(2), b.shape.dropLast(2)])
    return try layer.add(
      "matmul", a,
      [
        ("y", .variable(b)), ("transpose_x", .flag(transposeA)),
        ("transpose_y", .flag(transposeB)),
      ], shape: leading + [m, n])
  }
}

extension LayerCall {
  /// x · weightᵀ + bias
  fileprivate func linear(
    _ x: Variable, _ matrix: Weights?, inputs: Int, outputs: Int, _ bias: Weights?
  ) throws -> Variable {
    let weight = try weight(matrix, [outputs, inputs], "weight")
    var arguments: [(String, Argument)] = [("weight", .variable(weight))]
    if let bias { arguments.append(("bias", .variable(try self.weight(bias, [outputs], "bias")))) }
    return try add("linear", x, arguments, shape: x.shape.dropLast() + [outputs])
  }
}

extension Embedding: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let five = try layer.five()
    return try layer.embedding(
      layer.reshape(layer.builder.cast(layer.input(0), to: .int32), to: [five[0] * five[1]]),
      matrix, entries: inputDim, size: outputChannels, hasBias ? bias : nil)
  }
}

extension EmbeddingND: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let indices = try layer.integers(0)
    return try layer.embedding(
      layer.reshape(indices, to: Array(indices.shape.dropLast())), matrix, entries: vocabSize,
      size: embeddingSize, hasBias ? bias : nil)
  }
}

extension LayerCall {
  /// The columns of the matrix at the indices, plus the bias.
  fileprivate func embedding(
    _ indices: Variable, _ matrix: Weights?, entries: Int, size: Int, _ bias: Weights?
  ) throws -> Variable {
    let table = try weight(matrix, [size, entries], "weight", transposed: [1, 0])
    let rows = try add(
      "gather", table, [("indices", .variable(indices)), ("axis", .int(0))],
      shape: indices.shape + [size])
    guard let bias else { return rows }
    return try combine("add", rows, weight(bias, [size], "bias"))
  }
}
