import CoreML
import Foundation

/// x · tanh(log(1 + exp(x)))
final class Mish: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { $0 }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    try FormulaArray.mish(FormulaArray(inputs[0])).write(to: outputs[0])
  }
}
