import CoreMLModel
import TensorCore

/// Maps the weights of a convolution or inner product to channels. They are grouped by pairs of an
/// input and an output channel, with `taps` weights each.
struct ChannelPairs {
  let outputs: Int
  let inputs: Int
  let groups: Int
  let taps: Int
  let isTransposed: Bool

  /// - Throws: `.malformed` if the channels are not multiples of the groups.
  init(_ convolution: Convolution) throws {
    let shape = convolution.kernelShape
    outputs = convolution.outputChannels
    inputs = try convolution.inputChannels
    groups = convolution.effectiveGroups
    taps = shape[2] * shape[3]
    isTransposed = convolution.isDeconvolution
    try require(
      groups > 0 && outputs >= groups && inputs >= groups && outputs % groups == 0
        && inputs % groups == 0,
      "\(inputs) input and \(outputs) output channels in \(groups) groups", field: "nGroups")
  }

  init(_ dense: InnerProduct) {
    outputs = dense.outputChannels
    inputs = dense.inputChannels
    groups = 1
    taps = 1
    isTransposed = false
  }

  subscript(pair: Int) -> (input: Int, output: Int) {
    let (groupInputs, groupOutputs) = (inputs / groups, outputs / groups)
    if isTransposed {
      let input = pair / groupOutputs
      return (input, input / groupInputs * groupOutputs + pair % groupOutputs)
    }
    let output = pair / groupInputs
    return (output / groupOutputs * groupInputs + pair % groupInputs, output)
  }
}
