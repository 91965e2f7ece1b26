import TensorCore

/// x · tanh(log(1 + exp(x)))
final class Mish: BuiltInCustomLayer {
  static let className = "Mish"
  static let notes = CustomLayerNotes("x · tanh(log(1 + exp(x)))")

  /// From here on the function is x to a float's precision.
  private static let linear: Float = 20
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws { kernels = try LayerKernels() }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try onlyInput(inputShapes)]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    mapElements(inputs, outputs) { source, target, count in
      for index in 0..<count {
        let x = source[index]
        target[index] = x > Self.linear ? Self.linear : x
      }
      kernels.apply(.exp, target, target, count)
      for index in 0..<count {
        // tanh(log(1 + n)) = n(n + 2) / (n(n + 2) + 2)
        let n = target[index]
        let w = n * (n + 2)
        target[index] = source[index] * (w / (w + 2))
      }
    }
  }
}
