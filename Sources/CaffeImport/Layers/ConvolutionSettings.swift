import CoreMLModel
import Formulas
import TensorCore

/// Settings shared by convolutions: Caffe's `ConvolutionParameter` for a given bottom.
struct ConvolutionSettings: Sendable {
  let layer: LayerCall
  /// Caffe's channel axis; axes before it are batch axes, axes after it are spatial.
  let channelAxis: Int
  let channels: Int
  let outputs: Int
  let groups: Int
  let kernel: [Int]
  let stride: [Int]
  let padding: [Int]
  let dilation: [Int]
  let hasBias: Bool

  /// The number of spatial axes of the kernel.
  var dimensions: Int { kernel.count }

  enum Kind {
    case plain
    /// One group per channel, unless the layer sets the number of groups.
    case depthwise
    /// One output channel per element of a channel's windows.
    case unfolding
  }

  init(_ layer: LayerCall, _ input: CaffeTensor, _ kind: Kind = .plain) throws {
    self.layer = layer
    let parameters = layer.parameters("convolution_param")
    channelAxis = try input.axis(
      parameters.int("axis", default: 1), "convolution_param.axis", of: layer)
    channels = input.shape[channelAxis]
    let count = input.shape.count - channelAxis - 1
    try layer.require(
      (1...3).contains(count), unsupported: "a kernel of \(count) axes",
      field: "convolution_param.axis", hint: "one to three spatial axes are supported")
    func sizes(_ field: String, _ name: String, default standard: Int?, atLeast minimum: Int)
      throws -> [Int]
    {
      if count == 2 { return try parameters.pair(field, name, default: standard, atLeast: minimum) }
      let values = try parameters.ints(field, atLeast: minimum)
      if values.count == count { return values }
      if let value = values.first ?? standard, values.count <= 1 {
        return [Int](repeating: value, count: count)
      }
      throw parameters.error(field, "\(values.count) numbers for \(count) axes")
    }
    kernel = try sizes("kernel_size", "kernel", default: nil, atLeast: 1)
    stride = try sizes("stride", "stride", default: 1, atLeast: 1)
    padding = try sizes("pad", "pad", default: 0, atLeast: 0)
    // DeepLab introduced dilation before BVLC, under a different name.
    let gaps = parameters.has("hole") || parameters.has("hole_h") ? "hole" : "dilation"
    dilation = try sizes(gaps, gaps, default: 1, atLeast: 1)
    if kind == .unfolding {
      outputs = try checkedProduct([channels] + kernel, limit: Limits.dimension)
      hasBias = false
      groups = channels
      return
    }
    outputs = try parameters.int("num_output", atLeast: 1)
    hasBias = try parameters.bool("bias_term")
    groups =
      kind == .depthwise && !parameters.has("group")
      ? channels : try parameters.int("group", atLeast: 1)
    try parameters.require(
      channels % groups == 0 && outputs % groups == 0, "group",
      "\(channels) channels and \(outputs) outputs are not divisible by \(groups) groups")
  }

  /// Extents of the dilated kernel.
  var extents: [Int] {
    get throws {
      try zip(kernel, dilation).map {
        try checkedSum([checkedProduct([$0 - 1, $1], limit: Limits.dimension), 1])
      }
    }
  }

  /// The kernel in Caffe's axis order.
  func weights(isDeconvolution: Bool) throws -> FloatValues {
    let shape =
      (isDeconvolution ? [channels, outputs / groups] : [outputs, channels / groups]) + kernel
    return try layer.weight(0, "weight", shape: shape)
  }

  /// The weights for a convolution without groups: zeros for channels outside a group.
  func denseWeights() throws -> FloatValues {
    let weights = try weights(isDeconvolution: false)
    if groups == 1 { return weights }
    let source = try weights.array()
    let area = kernel.reduce(1, *)
    let (own, run) = (outputs / groups, channels / groups * area)
    var result = [Float](
      repeating: 0,
      count: try computedCount([outputs, channels, area], limit: Limits.computedElements))
    for output in 0..<outputs {
      let start = output * channels * area + output / own * run
      result.replaceSubrange(start..<start + run, with: source[output * run..<(output + 1) * run])
    }
    return FloatValues(result).shaped([outputs, channels] + kernel)
  }

  func bias() throws -> Weights? {
    hasBias ? Weights(try layer.weight(1, "bias", shape: [outputs])) : nil
  }

  /// The output's shape in Caffe.
  func outputShape(_ input: CaffeTensor, isDeconvolution: Bool) throws -> [Int] {
    let extents = try extents
    var shape = input.shape
    shape[channelAxis] = outputs
    for (index, extent) in extents.enumerated() {
      let axis = channelAxis + 1 + index
      let size = shape[axis]
      let border = 2 * padding[index]
      let result =
        isDeconvolution
        ? try checkedSum(
          [checkedProduct([size - 1, stride[index]], limit: Limits.dimension), extent, -border])
        : size + border < extent ? 0 : (size + border - extent) / stride[index] + 1
      try layer.require(
        result > 0 && result <= Limits.dimension,
        "its bottom \(input.shapeText) with padding \(padding) is smaller than the kernel, which "
          + "spans \(extents)")
      shape[axis] = result
    }
    return shape
  }

  /// The bottom with its channels on C and its spatial axes on W, or H and W.
  func placed(_ input: CaffeTensor, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let extents = dimensions == 1 ? [Placement.width] : [Placement.height, Placement.width]
    if input.rank == 5, dimensions == 2,
      Array(input.axes[channelAxis...]) == [Placement.channel] + extents
    {
      return input
    }
    guard
      let placed = network.items(
        input, before: channelAxis, inner: [Placement.channel] + extents, for: layer.name)
    else {
      throw layer.unsupported(
        "more than two axes before the channels of \(input.shapeText)",
        field: "convolution_param.axis")
    }
    return placed
  }

  /// A Core ML convolution over H and W, whatever axes precede them.
  func convolution(
    kernel: [Int], stride: [Int], padding: [Int], dilation: [Int]
  ) -> CoreMLModel.Convolution {
    func two(_ values: [Int], _ filler: Int) -> [Int] {
      values.count == 1 ? [filler] + values : values
    }
    var convolution = CoreMLModel.Convolution(
      [outputs, channels / groups] + two(kernel, 1), groups: groups, stride: two(stride, 1),
      dilation: two(dilation, 1), border: two(padding, 0))
    convolution.hasBias = hasBias
    return convolution
  }
}
