import CoreML
import Foundation

/// x / 2 · (1 + erf(x / √2)), or approximately x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).
final class GELU: NSObject, MLCustomLayer {
  private let isApproximate: Bool

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    if parameters["approximate"] is String {
      isApproximate = try values.choice("approximate", of: ["none", "tanh"]) == "tanh"
    } else {
      isApproximate = try values.bool("approximate") ?? false
    }
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { $0 }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let x = try FormulaArray(inputs[0])
    try (isApproximate ? FormulaArray.tanhGelu(x) : .gelu(x)).write(to: outputs[0])
  }
}
