import Formulas
import TensorCore

/// gamma · (x − mean) / √(variance + ε) + beta, with mean and variance over groups of channels and
/// all positions of an image, and gamma and beta per channel.
class ChannelNormalization: CustomLayerWithChannelGroups {
  static let parameterNotes = [
    "`epsilon` or `eps` (1e-5)", "`in_channels`, checked",
    "`scale`, `center`: whether there is a γ, a β (true)",
  ]
  static let weightNotes = "γ and β, one per channel; default 1 and 0"

  /// The number of groups; −1 for one per channel.
  private let groups: Int
  private let epsilon: Float
  private let channelCount: Int?
  private let hasScale: Bool
  private let hasCenter: Bool
  private var gamma: [Float] = []
  private var beta: [Float] = []
  private let kernels: LayerKernels

  init(_ parameters: CustomLayerParameters, groups: Int) throws {
    self.groups = groups
    kernels = try LayerKernels()
    epsilon = try parameters.float("epsilon", "eps") ?? 1e-5
    try require(epsilon >= 0, "\(epsilon) is negative", field: "parameters.epsilon")
    channelCount = try parameters.int("in_channels", in: 1...Limits.dimension)
    hasScale = try parameters.bool("scale") ?? true
    hasCenter = try parameters.bool("center") ?? true
  }

  func setWeights(_ weights: [CustomLayerWeight]) throws {
    var rest = weights[...]
    if hasScale, let weight = rest.popFirst() { gamma = try weight.floats() }
    if hasCenter, let weight = rest.popFirst() { beta = try weight.floats() }
    try require(
      rest.isEmpty, "it has \(weights.count) weights; only gamma and beta are allowed",
      field: "weights")
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    try check(PlaneShape(shape))
    return [shape]
  }

  private func check(_ shape: PlaneShape) throws {
    if let channelCount, channelCount != shape.channels {
      throw ModelError(
        .malformed, "\(channelCount), but the input has \(shape.channels) channels",
        field: "parameters.in_channels")
    }
    try require(
      groups == -1 || shape.channels % groups == 0,
      "\(shape.channels) channels are not divisible into \(groups) groups",
      field: "parameters.num_groups")
    for (name, values) in [("gamma", gamma), ("beta", beta)]
    where !values.isEmpty && values.count != shape.channels {
      throw ModelError(
        .malformed, "\(values.count) values of \(name) for \(shape.channels) channels",
        field: "weights")
    }
  }

  var channelGroups: ChannelGroups {
    ChannelGroups(groups: groups, epsilon: epsilon, gamma: gamma, beta: beta)
  }

  /// A formula exists only for groups of one or of all channels.
  func formula(forInputShapes shapes: [[Int]]) throws -> CustomLayerFormula? {
    let (shape, rank) = (PlaneShape(shapes[0]), shapes[0].count)
    let isInstance = groups == -1 || groups == shape.channels
    guard rank >= 3, isInstance || groups == 1 else { return nil }
    let axes = isInstance ? [-2, -1] : [-3, -2, -1]
    let x = Expression.name("x")
    let centered = try Expression.apply(.subtract, x, x.reduced(.mean, axes))
    let variance = try Expression.apply(.square, centered).reduced(.mean, axes)
    let factor = try Expression.apply(
      .rsqrt, .apply(.add, variance, .number(Double(epsilon))))
    var result = try Expression.apply(.multiply, centered, factor)
    var weights: [String: FormulaArray] = [:]
    if !gamma.isEmpty {
      result = try .apply(.multiply, result, .name("gamma"))
      weights["gamma"] = FormulaArray(perChannel: gamma, rank: rank)
    }
    if !beta.isEmpty {
      result = try .apply(.add, result, .name("beta"))
      weights["beta"] = FormulaArray(perChannel: beta, rank: rank)
    }
    return CustomLayerFormula(expression: result, weights: weights)
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    let shape = PlaneShape(inputs[0].shape)
    let groups = groups == -1 ? shape.channels : groups
    let channels = shape.channels / groups
    let length = channels * shape.area
    for group in 0..<shape.images * groups {
      let (from, to) = (source + group * length, target + group * length)
      let mean = kernels.table.sum(.sum, from, length) / Double(length)
      kernels.apply(.linear, from, to, length, .init(alpha: 1, beta: Float(-mean)))
      // Rounded, so that the class for apps, to which Accelerate gives a float, has the same bits.
      let variance = Float(kernels.table.sum(.sumOfSquares, to, length) / Double(length))
      let factor = Float(1 / (Double(variance) + Double(epsilon)).squareRoot())
      for index in 0..<channels {
        let channel = group % groups * channels + index
        let plane = to + index * shape.area
        kernels.apply(
          .linear, plane, plane, shape.area,
          .init(
            alpha: gamma.isEmpty ? factor : factor * gamma[channel],
            beta: beta.isEmpty ? 0 : beta[channel]))
      }
    }
  }
}

/// Normalizes by mean and variance over all positions of a channel.
final class InstanceNormalization: ChannelNormalization, BuiltInCustomLayer {
  static let className = "InstanceNormalization"
  static let otherNames = ["InstanceNorm", "instancenorm"]
  static let notes = CustomLayerNotes(
    "γ · (x − mean) / √(variance + ε) + β, mean and variance over all positions of a channel",
    parameters: parameterNotes, weights: weightNotes)

  init(parameters: [String: CustomLayerParameter]) throws {
    try super.init(CustomLayerParameters(values: parameters), groups: -1)
  }
}

/// Normalizes by mean and variance over all positions of a group of channels.
final class GroupNormalization: ChannelNormalization, BuiltInCustomLayer {
  static let className = "GroupNormalization"
  /// `groupnorm` is the name in kraken.
  static let otherNames = ["GroupNorm", "groupnorm"]
  static let notes = CustomLayerNotes(
    "γ · (x − mean) / √(variance + ε) + β, mean and variance over groups of channels and all positions",
    parameters: ["`num_groups` or `groups` (32; −1: one per channel)"] + parameterNotes,
    weights: weightNotes)

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    let groups = try values.int("num_groups", "groups", in: -1...Limits.dimension) ?? 32
    try require(groups != 0, "there are no groups", field: "parameters.num_groups")
    try super.init(values, groups: groups)
  }
}
