import TensorCore

/// gamma · (x − mean) / √(variance + ε) + beta, mean and variance over groups of channels and all
/// places of an image.
final class GroupNormalization: BuiltInCustomLayer {
  static let className = "GroupNormalization"
  /// `groupnorm` is kraken's.
  static let otherNames = ["GroupNorm", "groupnorm"]
  static let notes = CustomLayerNotes(
    "γ · (x − mean) / √(variance + ε) + β, mean and variance over groups of channels and all places",
    parameters: [
      "`num_groups` or `groups` (32; −1: one a channel)", "`epsilon` or `eps` (1e-5)",
      "`in_channels`, checked", "`scale`, `center`: whether there is a γ, a β (true)",
    ], weights: "γ and β, one a channel; none: 1 and 0")

  private let groups: Int
  private let statistics: ChannelNormalization

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(parameters)
    groups = try values.int("num_groups", "groups", in: -1...Limits.dimension) ?? 32
    guard groups != 0 else {
      throw ModelError(.malformed, "no groups", field: "parameters.num_groups")
    }
    statistics = try ChannelNormalization(values)
  }

  func setWeights(_ weights: [CustomLayerWeight]) throws {
    try statistics.setWeights(weights)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    try statistics.check(PlaneShape(shape), groups: groups)
    return [shape]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    statistics.normalize(inputs[0], outputs[0], groups: groups)
  }
}
