import CoreML
import Foundation

/// Splits one axis in two, and merges one part with another axis.
///
/// Core ML runs it on the CPU: only kraken's text recognition uses it.
final class KrakenReshape: NSObject, MLCustomLayer {
  private let split: AxisSplit

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
      [shapes[0].dropLast(4) + (try plan(shapes[0]).shape)]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    try plan(inputs[0].sizes).rearrange(inputs[0].floats(), to: outputs[0].floats())
  }
}
