import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// γ · (x − mean) / √(variance + ε) + β, mean and variance over groups of channels and all positions.
final class GroupNormalization: NSObject, MLCustomLayer {
  private static let halfPrecision: [Int: Set<Int>] = [:]
  private var normalization: ChannelNormalization

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    let groups = try values.int("num_groups", "groups", in: -1...1 << 30) ?? 32
    guard groups != 0 else { throw LayerFault.parameter("num_groups") }
    normalization = try ChannelNormalization(values, groups: groups)
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
