import TensorCore

/// gamma · (x − mean) / √(variance + ε) + beta, mean and variance over all places of a channel.
final class InstanceNormalization: BuiltInCustomLayer {
  static let className = "InstanceNormalization"
  static let otherNames = ["InstanceNorm", "instancenorm"]
  static let notes = CustomLayerNotes(
    "γ · (x − mean) / √(variance + ε) + β, mean and variance over all places of a channel",
    parameters: [
      "`epsilon` or `eps` (1e-5)", "`in_channels`, checked",
      "`scale`, `center`: whether there is a γ, a β (true)",
    ], weights: "γ and β, one a channel; none: 1 and 0")

  private let statistics: ChannelNormalization

  init(parameters: [String: CustomLayerParameter]) throws {
    statistics = try ChannelNormalization(CustomLayerParameters(parameters))
  }

  func setWeights(_ weights: [CustomLayerWeight]) throws {
    try statistics.setWeights(weights)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    try statistics.check(PlaneShape(shape), groups: -1)
    return [shape]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    statistics.normalize(inputs[0], outputs[0], groups: -1)
  }
}
