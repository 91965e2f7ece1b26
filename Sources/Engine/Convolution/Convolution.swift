import CoreMLModel
import TensorCore

extension Convolution: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    let groups = effectiveGroups
    try require(
      groups > 0 && outputChannels > 0 && kernelChannels > 0 && outputChannels % groups == 0,
      "\(groups) for \(outputChannels) output channels", field: "nGroups")
    let inputs = try inputChannels
    try require(
      inputs == input.channels && inputs % groups == 0,
      "\(kernelChannels) with \(groups) groups for \(input.channels) input channels",
      field: "kernelChannels")
    let window = try WindowGeometry(self, input: input)
    let weights = ConvolutionWeights(
      values: try layer.stored(
        kernel, kernelShape, channelAxis: isDeconvolution ? 1 : 0, "weights"), groups: groups,
      groupInputs: inputs / groups, groupOutputs: outputChannels / groups,
      bias: hasBias ? try layer.values(bias, [outputChannels], "bias").array() : nil)
    if isDeconvolution {
      let operation = TransposedConvolutionOperation(weights: weights, window: window)
      return [layer.add(operation, layer.inputs, output)]
    }
    return [
      layer.add(ConvolutionOperation(weights: weights, window: window), layer.inputs, output)
    ]
  }
}
