import TensorCore

/// Normalisation over groups of channels, with a factor and a summand for each channel.
final class ChannelNormalization {
  private let epsilon: Float
  private let channelCount: Int?
  private let hasScale: Bool
  private let hasCenter: Bool
  private var gamma: [Float] = []
  private var beta: [Float] = []
  private let kernels: LayerKernels

  init(_ parameters: CustomLayerParameters) throws {
    kernels = try LayerKernels()
    epsilon = try parameters.float("epsilon", "eps") ?? 1e-5
    guard epsilon >= 0 else {
      throw ModelError(.malformed, "\(epsilon) is negative", field: "parameters.epsilon")
    }
    channelCount = try parameters.int("in_channels", in: 1...Limits.dimension)
    hasScale = try parameters.bool("scale") ?? true
    hasCenter = try parameters.bool("center") ?? true
  }

  func setWeights(_ weights: [CustomLayerWeight]) throws {
    var rest = weights[...]
    if hasScale, let weight = rest.popFirst() { gamma = try weight.floats() }
    if hasCenter, let weight = rest.popFirst() { beta = try weight.floats() }
    guard rest.isEmpty else {
      throw ModelError(
        .malformed, "\(weights.count) weights, where gamma and beta are all", field: "weights")
    }
  }

  /// - Parameter groups: −1 is one a channel.
  func check(_ shape: PlaneShape, groups: Int) throws {
    if let channelCount, channelCount != shape.channels {
      throw ModelError(
        .malformed, "\(channelCount), where the input has \(shape.channels) channels",
        field: "parameters.in_channels")
    }
    guard groups == -1 || shape.channels % groups == 0 else {
      throw ModelError(
        .malformed, "\(shape.channels) channels do not divide into \(groups) groups",
        field: "parameters.num_groups")
    }
    for (name, values) in [("gamma", gamma), ("beta", beta)]
    where !values.isEmpty && values.count != shape.channels {
      throw ModelError(
        .malformed, "\(values.count) values of \(name) for \(shape.channels) channels",
        field: "weights")
    }
  }

  func normalize(_ input: CustomLayerInput, _ output: CustomLayerOutput, groups: Int) {
    guard let source = input.elements.baseAddress, let target = output.elements.baseAddress
    else { return }
    let shape = PlaneShape(input.shape)
    let groups = groups == -1 ? shape.channels : groups
    let channels = shape.channels / groups
    let length = channels * shape.area
    for group in 0..<shape.images * groups {
      let (from, to) = (source + group * length, target + group * length)
      let mean = kernels.table.sum(.sum, from, length) / Double(length)
      kernels.apply(.linear, from, to, length, alpha: 1, beta: Float(-mean))
      let variance = kernels.table.sum(.sumOfSquares, to, length) / Double(length)
      let factor = Float(1 / (variance + Double(epsilon)).squareRoot())
      for index in 0..<channels {
        let channel = group % groups * channels + index
        let plane = to + index * shape.area
        kernels.apply(
          .linear, plane, plane, shape.area,
          alpha: gamma.isEmpty ? factor : factor * gamma[channel],
          beta: beta.isEmpty ? 0 : beta[channel])
      }
    }
  }
}
