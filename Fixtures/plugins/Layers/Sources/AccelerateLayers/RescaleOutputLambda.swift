import Accelerate
import CoreML
import Foundation

/// (x + 1) · 127.5
#if canImport(ObjectiveC)
  @objc(RescaleOutputLambda)
#endif
final class RescaleOutputLambda: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    inputShapes
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    for (input, output) in zip(inputs, outputs) {
      let x = UnsafeMutablePointer<Float>(OpaquePointer(input.dataPointer))
      let y = UnsafeMutablePointer<Float>(OpaquePointer(output.dataPointer))
      var one: Float = 1
      var half: Float = 127.5
      vDSP_vsadd(x, 1, &one, y, 1, vDSP_Length(input.count))
      vDSP_vsmul(y, 1, &half, y, 1, vDSP_Length(input.count))
    }
  }
}
