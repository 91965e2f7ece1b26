import CoreML
import Foundation

/// The unchanged input: identity, and dropout, which acts only in training.
final class Identity: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { $0 }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    try outputs[0].floats().update(from: inputs[0].floats(), count: inputs[0].count)
  }
}
