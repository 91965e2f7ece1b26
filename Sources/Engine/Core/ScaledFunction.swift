import Kernels

/// An element function that takes a single kernel call: `function(scale · x + shift)`, with α and β
/// the same for all elements or one per channel.
struct ScaledFunction: Sendable, Equatable {
  enum Parameter: Sendable, Equatable {
    case scalar(Float)
    case perChannel([Float])

    func value(_ channel: Int) -> Float {
      switch self {
      case .scalar(let value): value
      case .perChannel(let values): values[channel]
      }
    }

    var isPerChannel: Bool { if case .perChannel = self { true } else { false } }
  }

  var function: UnaryFunction
  var alpha = Parameter.scalar(0)
  var beta = Parameter.scalar(0)
  var scale: Float = 1
  var shift: Float = 0

  init(
    _ function: UnaryFunction, alpha: Float = 0, beta: Float = 0, scale: Float = 1,
    shift: Float = 0
  ) {
    self.function = function
    self.alpha = .scalar(alpha)
    self.beta = .scalar(beta)
    (self.scale, self.shift) = (scale, shift)
  }

  init(_ function: UnaryFunction, alpha: Parameter, beta: Parameter) {
    (self.function, self.alpha, self.beta) = (function, alpha, beta)
  }

  /// α · x + β, one pair per channel.
  static func affine(scale: [Float], bias: [Float]) -> ScaledFunction {
    ScaledFunction(.linear, alpha: .perChannel(scale), beta: .perChannel(bias))
  }

  var isPerChannel: Bool { alpha.isPerChannel || beta.isPerChannel }

  func parameters(_ channel: Int) -> UnaryParameters {
    UnaryParameters(
      alpha: alpha.value(channel), beta: beta.value(channel), scale: scale, shift: shift)
  }

  /// Whether the result is the argument, bit for bit.
  var isIdentity: Bool {
    guard function == .linear, scale == 1, shift == 0 else { return false }
    return alpha.isAlways(1) && beta.isAlways(0)
  }

  /// Whether the function maps 0 to 0, so that lanes without a channel stay clear.
  var keepsZero: Bool {
    guard shift == 0 else { return false }
    switch function {
    case .relu, .leaky, .abs, .sign, .floor, .ceil, .round, .square, .sqrt, .expm1, .log1p, .sin,
      .tan, .asin, .atan, .sinh, .tanh, .scaledTanh, .asinh, .atanh, .erf, .softsign, .elu,
      .scaledElu, .swish, .hardSwish, .mish, .gelu, .tanhGelu:
      return true
    case .clip: return !isPerChannel && alpha.value(0) <= 0 && beta.value(0) >= 0
    case .clampedRelu: return !beta.isPerChannel && beta.value(0) >= 0
    // Per-channel parameters are padded with zeros.
    case .linear, .linearRelu: return beta.isPerChannel || beta.isAlways(0)
    default: return false
    }
  }

  /// α and β of the affine function `α · (scale · x + shift) + β`, if it is one.
  func affineParameters(channels: Int) -> (scale: [Double], bias: [Double])? {
    guard function == .linear else { return nil }
    let alphas = (0..<channels).map { Double(alpha.value($0)) }
    return (
      alphas.map { $0 * Double(scale) },
      (0..<channels).map { alphas[$0] * Double(shift) + Double(beta.value($0)) }
    )
  }
}

extension ScaledFunction.Parameter {
  func isAlways(_ constant: Float) -> Bool {
    switch self {
    case .scalar(let value): value == constant
    case .perChannel(let values): values.allSatisfy { $0 == constant }
    }
  }
}
