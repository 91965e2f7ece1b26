import LibC
import TensorCore

/// x · Φ(x), Φ the normal distribution; or with tanh in its place.
final class GELU: BuiltInCustomLayer {
  static let className = "GELU"
  static let otherNames = ["Gelu", "gelu"]
  static let notes = CustomLayerNotes(
    "x / 2 · (1 + erf(x / √2)); approximate: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))",
    parameters: ["`approximate`, bool, or `tanh` or `none` (false)"])

  private let isApproximate: Bool
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws {
    kernels = try LayerKernels()
    let parameters = CustomLayerParameters(parameters)
    if let word = try? parameters.choice("approximate", of: ["none", "tanh"]) {
      isApproximate = word == "tanh"
    } else {
      isApproximate = try parameters.bool("approximate") ?? false
    }
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try onlyInput(inputShapes)]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    mapElements(inputs, outputs) { source, target, count in
      if isApproximate {
        // 1/2 · (1 + tanh(u)) = 1 / (1 + exp(−2u))
        for index in 0..<count {
          let x = source[index]
          target[index] = 1.5957691 * (x + 0.044715 * x * x * x)
        }
        kernels.apply(.sigmoid, target, target, count)
        for index in 0..<count { target[index] *= source[index] }
      } else {
        for index in 0..<count {
          let x = source[index]
          target[index] = 0.5 * x * erfcf(-0.70710678 * x)
        }
      }
    }
  }
}
