import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

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

  #if canImport(Metal)
    private let kernel = LayerKernel("GroupNormalization")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      try kernel.encode(
        commandBuffer, inputs, outputs,
        weights: normalization.kernelWeights,
        tables: [normalization.kernelEpsilon],
        numbers: normalization.kernelNumbers,
        groupsOfThreads: true)
    }
  #endif
}
