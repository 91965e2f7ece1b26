import CoreML
import Foundation

/// γ · (x − mean) / √(variance + ε) + β, mean and variance over all positions of a channel.
final class InstanceNormalization: NSObject, MLCustomLayer {
  private static let halfPrecision: [Int: Set<Int>] = [:]
  private var normalization: ChannelNormalization

  required init(parameters: [String: Any]) throws {
    normalization = try ChannelNormalization(LayerParameters(parameters), groups: -1)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {
    try normalization.setWeights(
      LayerWeights.floats(weights, 0...2, halfPrecision: Self.halfPrecision))
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      try normalization.check(shapes[0])
      return shapes
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    try normalization.normalize(inputs[0], to: outputs[0])
  }
}
