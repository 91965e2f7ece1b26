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
      for i in 0..<input.count {
        output[i] = NSNumber(value: (input[i].floatValue + 1) * 127.5)
      }
    }
  }
}
