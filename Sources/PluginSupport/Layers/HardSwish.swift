import Accelerate
import CoreML
import Foundation

/// x · min(max(x / 6 + 1/2, 0), 1)
final class HardSwish: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { $0 }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    let count = vDSP_Length(inputs[0].count)
    var sixth: Float = 1 / 6
    var half: Float = 0.5
    var zero: Float = 0
    var one: Float = 1
    vDSP_vsmsa(x, 1, &sixth, &half, y, 1, count)
    vDSP_vclip(y, 1, &zero, &one, y, 1, count)
    vDSP_vmul(y, 1, x, 1, y, 1, count)
  }
}
