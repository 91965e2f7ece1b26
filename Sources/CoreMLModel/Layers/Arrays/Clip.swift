import TensorCore

/// min(max(x, minVal), maxVal)
public struct Clip: ElementFunctionLayer {
  public static let typeName = "clip"

  public var minVal: Float = 0
  public var maxVal: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// x ≥ 0 ? min(β, x) : min(β, α·x)
public struct ClampedReLU: ElementFunctionLayer {
  public static let typeName = "clampedReLU"
  public static let specificationVersion = 5

  public var alpha: Float = 0
  public var beta: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// x · Φ(x), where Φ is the normal distribution's function, or an approximation of it.
public struct Gelu: ElementFunctionLayer {
  public enum Mode: Int, Sendable, CaseIterable {
    /// x/2 · (1 + erf(x/√2))
    case exact = 0
    /// x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
    case tanhApproximation = 1
    /// x / (1 + exp(−1.702·x))
    case sigmoidApproximation = 2
  }

  public static let typeName = "gelu"

  public var mode = Mode.exact
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Clip: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("minVal", \.minVal),
    .float("maxVal", \.maxVal),
  ]
}

extension ClampedReLU: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("alpha", \.alpha),
    .float("beta", \.beta),
  ]
}

extension Gelu: EncodedMessage {
  static let fields: [Field<Self>] = [.value("mode", \.mode)]
}

extension Clip: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(minVal <= maxVal, "minVal", "\(minVal) is more than maxVal, \(maxVal)")
  }
}
