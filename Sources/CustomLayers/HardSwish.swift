import TensorCore

/// x · min(max(x / 6 + 1/2, 0), 1)
final class HardSwish: BuiltInCustomLayer {
  static let className = "HardSwish"
  static let otherNames = ["Hardswish", "HSwish"]
  static let notes = CustomLayerNotes("x · min(max(x / 6 + 1/2, 0), 1)")

  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws { kernels = try LayerKernels() }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try onlyInput(inputShapes)]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    mapElements(inputs, outputs) { source, target, count in
      kernels.apply(.hardSigmoid, source, target, count, alpha: 1 / 6, beta: 0.5)
      for index in 0..<count { target[index] *= source[index] }
    }
  }
}
