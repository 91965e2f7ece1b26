import CoreMLModel
import TensorCore

extension Convolution: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let (kernel, strides, dilations) = try effectiveSizes()
    let (kernelHeight, kernelWidth) = (kernel[0], kernel[1])
    let (strideY, strideX) = (strides[0], strides[1])
    let (dilationY, dilationX) = isDeconvolution ? (1, 1) : (dilations[0], dilations[1])
    let groups = effectiveGroups
    let groupOutputs = outputChannels / groups
    let filters =
      isDeconvolution ? [kernelChannels, groupOutputs] : [outputChannels, kernelChannels]
    let weights = try self.kernel.values(
      filters + kernel, "weights", channelAxis: isDeconvolution ? 1 : 0)
    let offsets =
      hasBias
      ? try bias.values([outputChannels], "bias") : [Float](repeating: 0, count: outputChannels)
    let (top, left) = leadingPadding(
      input: (input.height, input.width), output: (shape[3], shape[4]),
      kernel: ((kernelHeight - 1) * dilationY + 1, (kernelWidth - 1) * dilationX + 1),
      stride: (strideY, strideX))

    let groupInputs = input.channels / groups
    let output = ReferenceTensor(shape: shape) { p in
      let group = p.channel / groupOutputs
      let item = (p.sequence * input.batch + p.batch) * input.channels + group * groupInputs
      var sum = Double(offsets[p.channel])
      for i in 0..<groupInputs {
        for r in 0..<kernelHeight {
          for c in 0..<kernelWidth {
            let y: Int
            let x: Int
            let filter: Int
            if isDeconvolution {
              // Input (y, x) reaches output (y · stride + r − top, x · stride + c − left).
              let (row, rowRest) = (p.y + top - r).quotientAndRemainder(dividingBy: strideY)
              let (column, columnRest) = (p.x + left - c).quotientAndRemainder(dividingBy: strideX)
              if rowRest != 0 || columnRest != 0 { continue }
              y = row
              x = column
              filter = (group * groupInputs + i) * groupOutputs + p.channel % groupOutputs
            } else {
              y = p.y * strideY + r * dilationY - top
              x = p.x * strideX + c * dilationX - left
              filter = p.channel * groupInputs + i
            }
            if y < 0 || y >= input.height || x < 0 || x >= input.width { continue }
            sum +=
              Double(weights[(filter * kernelHeight + r) * kernelWidth + c])
              * input.elements[((item + i) * input.height + y) * input.width + x]
          }
        }
      }
      return sum
    }
    return [output]
  }

  /// Rows above and columns to the left of the input that count as padding.
  ///
  /// A deconvolution with `outputShape` or with SAME padding is the transpose of the convolution
  /// that maps such an output to this input, as in TensorFlow's `conv2d_transpose`; its padding is
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

/// SAME padding: max(0, covered − size) elements, the odd one on the heavy side.
func samePadding(
  covered: Int, size: Int, _ mode: SamePadding.Mode
) -> (leading: Int, trailing: Int) {
  let total = max(0, covered - size)
  let light = total / 2
  return mode == .bottomRightHeavy ? (light, total - light) : (total - light, light)
}
