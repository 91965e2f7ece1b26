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
    var window = try WindowGeometry(self, input: input)
    var values = try layer.stored(
      kernel, kernelShape, channelAxis: isDeconvolution ? 1 : 0, "weights")
    if isDeconvolution, window.dilation != [1, 1] {
      values = .floats(
        try spread(layer.values(kernel, kernelShape, channelAxis: 1, "weights"), &window))
    }
    let weights = ConvolutionWeights(
      values: values, groups: groups, groupInputs: inputs / groups,
      groupOutputs: outputChannels / groups,
      bias: hasBias ? try layer.values(bias, [outputChannels], "bias").array() : nil)
    if isDeconvolution {
      let operation = TransposedConvolutionOperation(weights: weights, window: window)
      return [layer.add(operation, layer.inputs, output)]
    }
    let operation = ConvolutionOperation(weights: weights, window: window)
    // Images of a single pixel are the rows of a matrix.
    guard operation.isPointwise, input.area == 1, LinearOperation.pays(rows: input.images) else {
      return [layer.add(operation, layer.inputs, output)]
    }
    let linear = LinearOperation(
      values, inputs: inputs, outputs: outputChannels, bias: weights.bias)
    return [layer.add(linear, layer.inputs, output)]
  }

  /// The kernel of a dilated deconvolution with zeros between its rows and columns, which is
  /// equivalent without dilation.
  private func spread(_ kernel: FloatValues, _ window: inout WindowGeometry) throws -> FloatValues {
    let (height, width) = (window.extent(0), window.extent(1))
    let shape = kernelShape.dropLast(2) + [height, width]
    var result = try [Float](zeros: checkedProduct(shape, limit: Limits.tensorElements))
    let (rows, columns) = (window.kernel[0], window.kernel[1])
    for (index, value) in try kernel.array().enumerated() {
      let (matrix, position) = index.quotientAndRemainder(dividingBy: rows * columns)
      let (row, column) = position.quotientAndRemainder(dividingBy: columns)
      result[(matrix * height + row * window.dilation[0]) * width + column * window.dilation[1]] =
        value
    }
    (window.kernel, window.dilation) = ([height, width], [1, 1])
    return FloatValues(result).shaped(Array(shape))
  }
}
