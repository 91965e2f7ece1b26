import CoreMLModel
import TensorCore

extension Convolution3D: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let shape = try outputShape(inputs)
    let kernelSize = window.kernel
    let strides = window.stride.map { max($0, 1) }
    let dilations = window.dilation.map { max($0, 1) }
    let isFitted = window.paddingType == .same || isDeconvolution && !outputShape.isEmpty
    // Pairs of kernel and input positions for each output position along an axis.
    let taps = (0..<3).map { axis in
      let (from, to) = (input.shape[axis + 2], shape[axis + 2])
      let (less, more) = isDeconvolution ? (from, to) : (to, from)
      let reach = (less - 1) * strides[axis] + (kernelSize[axis] - 1) * dilations[axis] + 1
      let leading =
        isFitted
        ? samePadding(covered: reach, size: more, .bottomRightHeavy).leading
        : window.paddingType == .custom ? window.padding[2 * axis] : 0
      return ConvolutionAxis(
        output: to, input: from, kernel: kernelSize[axis], stride: strides[axis],
        dilation: dilations[axis], leading: leading
      ).taps(isTransposed: isDeconvolution)
    }
    let (groupInputs, groupOutputs) = (inputChannels / groups, outputChannels / groups)
    let kernelShape =
      (isDeconvolution ? [inputChannels, groupOutputs] : [outputChannels, groupInputs]) + kernelSize
    let weights = ReferenceTensor(
      shape: kernelShape,
      try kernel.values(kernelShape, "weights", channelAxis: isDeconvolution ? 1 : 0)
        .map(Double.init))
    let offsets = try bias.biases(outputChannels, areUsed: hasBias)
    return try arrayOutput(inputs) { index in
      let output = index[1]
      let group = output / groupOutputs
      var sum = Double(offsets[output])
      for channel in 0..<groupInputs {
        let source = group * groupInputs + channel
        for z in taps[0][index[2]] {
          for y in taps[1][index[3]] {
            for x in taps[2][index[4]] {
              let weight =
                isDeconvolution
                ? [source, output % groupOutputs] : [output, channel]
              sum +=
                input[index: [index[0], source, z.input, y.input, x.input]]
                * weights[index: weight + [z.kernel, y.kernel, x.kernel]]
            }
          }
        }
      }
      return sum
    }
  }
}
