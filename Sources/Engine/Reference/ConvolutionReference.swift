import CoreMLModel
import TensorCore

extension Convolution: HalfSumLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let (kernel, strides, dilations) = try effectiveSizes()
    let groups = effectiveGroups
    let groupOutputs = outputChannels / groups
    let filters =
      isDeconvolution ? [kernelChannels, groupOutputs] : [outputChannels, kernelChannels]
    let weights = try self.kernel.values(
      filters + kernel, "weights", channelAxis: isDeconvolution ? 1 : 0)
    let offsets = try bias.biases(outputChannels, areUsed: hasBias)
    let extents = (0..<2).map { (kernel[$0] - 1) * dilations[$0] + 1 }
    let (top, left) = leadingPadding(
      input: (input.height, input.width), output: (shape[3], shape[4]),
      kernel: (extents[0], extents[1]), stride: (strides[0], strides[1]))
    let rows = ConvolutionAxis(
      output: shape[3], input: input.height, kernel: kernel[0], stride: strides[0],
      dilation: dilations[0], leading: top
    ).taps(isTransposed: isDeconvolution)
    let columns = ConvolutionAxis(
      output: shape[4], input: input.width, kernel: kernel[1], stride: strides[1],
      dilation: dilations[1], leading: left
    ).taps(isTransposed: isDeconvolution)
    let groupInputs = input.channels / groups
    let output = ReferenceTensor(shape: shape) { p in
      let group = p.channel / groupOutputs
      let item = (p.sequence * input.batch + p.batch) * input.channels + group * groupInputs
      var sum = ReferenceSum(Double(offsets[p.channel]), settings)
      for i in 0..<groupInputs {
        let filter =
          isDeconvolution
          ? (group * groupInputs + i) * groupOutputs + p.channel % groupOutputs
          : p.channel * groupInputs + i
        for row in rows[p.y] {
          let weightRow = (filter * kernel[0] + row.kernel) * kernel[1]
          let inputRow = ((item + i) * input.height + row.input) * input.width
          for column in columns[p.x] {
            sum.add(
              Double(weights[weightRow + column.kernel]) * input.elements[inputRow + column.input])
          }
        }
      }
      return sum.value
    }
    return [output]
  }

  /// Padding above or to the left of the input.
  ///
  /// A deconvolution with `outputShape` or with SAME padding is the transpose of the convolution
  /// from such an output to this input, as in TensorFlow's `conv2d_transpose`; its padding is
  /// max(0, (in − 1) · stride + kernel − out), split by the asymmetry mode.
  private func leadingPadding(
    input: (h: Int, w: Int), output: (h: Int, w: Int), kernel: (h: Int, w: Int),
    stride: (h: Int, w: Int)
  ) -> (top: Int, left: Int) {
    var heavy = SamePadding.Mode.bottomRightHeavy
    switch padding {
    case .same(let same): heavy = same.asymmetryMode
    case .valid(let valid) where !isDeconvolution || outputShape.isEmpty:
      return (valid.paddingAmounts?.top ?? 0, valid.paddingAmounts?.left ?? 0)
    case .valid: break
    case nil:
      if !isDeconvolution || outputShape.isEmpty { return (0, 0) }
    }
    func leading(_ small: Int, _ large: Int, _ kernel: Int, _ stride: Int) -> Int {
      samePadding(covered: (small - 1) * stride + kernel, size: large, heavy).leading
    }
    return isDeconvolution
      ? (
        leading(input.h, output.h, kernel.h, stride.h),
        leading(input.w, output.w, kernel.w, stride.w)
      )
      : (
        leading(output.h, input.h, kernel.h, stride.h),
        leading(output.w, input.w, kernel.w, stride.w)
      )
  }
}

/// An index in the kernel along one axis, and the index in the input that it multiplies.
struct ConvolutionTap {
  let kernel: Int
  let input: Int
}

/// Sizes and window of a convolution along one axis.
struct ConvolutionAxis {
  var output: Int
  var input: Int
  var kernel: Int
  var stride: Int
  var dilation: Int
  var leading: Int

  /// The taps of each output along one axis that fall inside the input.
  ///
  /// Output o reads input o · stride + k · dilation − leading. For a transposed convolution, input i
  /// contributes to output i · stride + k · dilation − leading.
  func taps(isTransposed: Bool) -> [[ConvolutionTap]] {
    (0..<output).map { o in
      (0..<kernel).compactMap { k in
        let (i, rest) =
          isTransposed
          ? (o + leading - k * dilation).quotientAndRemainder(dividingBy: stride)
          : (o * stride + k * dilation - leading, 0)
        return rest == 0 && i >= 0 && i < input ? ConvolutionTap(kernel: k, input: i) : nil
      }
    }
  }
}

/// SAME padding: max(0, covered − size) elements, with the odd one on the heavier side.
func samePadding(
  covered: Int, size: Int, _ mode: SamePadding.Mode
) -> (leading: Int, trailing: Int) {
  let total = max(0, covered - size)
  let light = total / 2
  return mode == .bottomRightHeavy ? (light, total - light) : (total - light, light)
}
