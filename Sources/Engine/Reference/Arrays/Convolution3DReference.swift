import CoreMLModel
import TensorCore

extension Convolution3D: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let windows = try windows(Array(input.shape[2...]))
    let (groupInputs, groupOutputs) = (inputChannels / groups, outputChannels / groups)
    let kernelShape =
      (isDeconvolution ? [inputChannels, groupOutputs] : [outputChannels, groupInputs])
      + windows.map(\.kernel)
    let weights = ReferenceTensor(
      shape: kernelShape,
      try kernel.values(kernelShape, "weights", channelAxis: isDeconvolution ? 1 : 0)
        .map(Double.init))
    let offsets =
      hasBias
      ? try bias.values([outputChannels], "bias") : [Float](repeating: 0, count: outputChannels)
    // The pairs of kernel and input place for each output place of an axis.
    let taps = windows.enumerated().map { axis, window in
      (0..<window.output).map { place in
        (0..<window.kernel).flatMap { k in
          (0..<input.shape[axis + 2]).filter { position in
            isDeconvolution
              ? position * window.stride + k * window.dilation - window.before == place
              : place * window.stride + k * window.dilation - window.before == position
          }.map { (k, $0) }
        }
      }
    }
    return [
      ReferenceTensor.indexed(shape) { index in
        let output = index[1]
        let group = output / groupOutputs
        var sum = Double(offsets[output])
        for channel in 0..<groupInputs {
          let source = group * groupInputs + channel
          for (kz, z) in taps[0][index[2]] {
            for (ky, y) in taps[1][index[3]] {
              for (kx, x) in taps[2][index[4]] {
                let weight =
                  isDeconvolution
                  ? [source, output % groupOutputs, kz, ky, kx] : [output, channel, kz, ky, kx]
                sum += input[index: [index[0], source, z, y, x]] * weights[index: weight]
              }
            }
          }
        }
        return sum
      }
    ]
  }
}
