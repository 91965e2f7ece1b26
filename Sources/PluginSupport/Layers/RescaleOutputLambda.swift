import Accelerate
import CoreML
import Foundation

/// (x + 1) · 127.5: from the range of tanh to that of an image.
final class RescaleOutputLambda: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { $0 }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    var one: Float = 1
    var half: Float = 127.5
    vDSP_vsadd(x, 1, &one, y, 1, vDSP_Length(inputs[0].count))
    vDSP_vsmul(y, 1, &half, y, 1, vDSP_Length(inputs[0].count))
  }
}
