import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// Splits one axis in two, and merges one part with another axis.
final class KrakenReshape: NSObject, MLCustomLayer {
  private let split: AxisSplit
  private var shape: [Int] = []

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    let sizes = -1...1 << 30
    let parts = (try values.required("part_a", in: sizes), try values.required("part_b", in: sizes))
    guard parts.0 != 0, parts.1 != 0, parts.0 > 0 || parts.1 > 0 else {
      throw LayerFault.parameter("part_a")
    }
    split = AxisSplit(
      source: try values.required("src_dim", in: 0...3), parts: parts,
      high: try values.required("high", in: 0...3), low: try values.required("low", in: 0...3))
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  private func plan(_ shape: [Int]) throws -> AxisSplit.Plan {
    guard shape.count >= 4, shape.dropLast(4).allSatisfy({ $0 == 1 }),
      let plan = split.plan(Array(shape.suffix(4)))
    else { throw LayerFault.shape([shape]) }
    return plan
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      shape = shapes[0]
      return [shape.dropLast(4) + (try plan(shape).shape)]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    try plan(inputs[0].sizes).rearrange(inputs[0].floats(), to: outputs[0].floats())
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("KrakenReshape")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      let plan = try plan(shape)
      try kernel.encode(
        commandBuffer, inputs, outputs,
        numbers: plan.sizes + plan.strides + shape.suffix(4) + plan.shape)
    }
  #endif
}
