import TensorCore

/// min(max(x, minVal), maxVal)
package struct Clip: ElementFunctionLayer {
  package var minVal: Float = 0
  package var maxVal: Float = 0

  package init() {}

  package static let fields: Fields = [.float("minVal", \.minVal), .float("maxVal", \.maxVal)]

  package func check(_ faults: inout ValidationIssues) {
    faults.require(minVal <= maxVal, "minVal", "\(minVal) is greater than maxVal, \(maxVal)")
  }
}

/// x ≥ 0 ? min(β, x) : min(β, α·x)
package struct ClampedReLU: ElementFunctionLayer {
  package static let specificationVersion = 5

  package var alpha: Float = 0
  package var beta: Float = 0

  package init() {}

  package static let fields: Fields = [.float("alpha", \.alpha), .float("beta", \.beta)]
}

/// x · Φ(x), where Φ is the standard normal distribution function, or an approximation of it.
package struct Gelu: ElementFunctionLayer {
  package enum Mode: Int, Sendable, CaseIterable {
    /// x/2 · (1 + erf(x/√2))
    case exact = 0
    /// x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
    case tanhApproximation = 1
    /// x / (1 + exp(−1.702·x))
    case sigmoidApproximation = 2
  }

  package var mode = Mode.exact

  package init() {}

  package static let fields: Fields = [.value("mode", \.mode)]
}
