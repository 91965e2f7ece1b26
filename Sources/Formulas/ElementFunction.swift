import LibC

/// An element function of arrays that are broadcast to each other. Conditions are 1 and 0.
package enum ElementFunction: String, Sendable, CaseIterable {
  case add, subtract, multiply, divide
  /// ⌊a / b⌋
  case floorDivide
  /// a − b · ⌊a / b⌋, with the sign of the divisor.
  case modulo
  case power
  case minimum, maximum
  case less, lessEqual, greater, greaterEqual, equal, notEqual
  case logicalAnd, logicalOr
  case negative, logicalNot
  case abs, sign, floor, ceil
  /// Rounds to the nearest whole number, and halves to the even one.
  case round
  case sqrt
  /// 1 / √x
  case rsqrt
  case square
  /// 1 / x
  case reciprocal
  case exp, expm1, log, log1p
  case sin, cos, tan, asin, acos, atan, sinh, cosh, tanh
  case erf
  /// 1 / (1 + e⁻ˣ)
  case sigmoid
  /// max(x, 0)
  case relu
  /// log(1 + eˣ)
  case softplus
  /// x / (1 + |x|)
  case softsign
  /// x / (1 + e⁻ˣ)
  case swish
  /// x · tanh(log(1 + eˣ))
  case mish
  /// x/2 · (1 + erf(x/√2))
  case gelu
  /// x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
  case tanhGelu
  /// x > 0 ? x : α(eˣ − 1)
  case elu
  /// min(max(x, low), high)
  case clip
  /// condition ≠ 0 ? a : b
  case choose

  package var operandCount: Int {
    switch self {
    case .add, .subtract, .multiply, .divide, .floorDivide, .modulo, .power, .minimum, .maximum,
      .less, .lessEqual, .greater, .greaterEqual, .equal, .notEqual, .logicalAnd, .logicalOr, .elu:
      2
    case .clip, .choose: 3
    default: 1
    }
  }

  /// - Precondition: the number of operands is `operandCount`.
  package func value(_ operands: [Double]) -> Double {
    let x = operands[0]
    let y = operands.count > 1 ? operands[1] : 0
    switch self {
    case .add: return x + y
    case .subtract: return x - y
    case .multiply: return x * y
    case .divide: return x / y
    case .floorDivide: return (x / y).rounded(.down)
    case .modulo: return x - y * (x / y).rounded(.down)
    case .power: return LibC.pow(x, y)
    case .minimum: return Self.smaller(x, y)
    case .maximum: return Self.larger(x, y)
    case .less: return x < y ? 1 : 0
    case .lessEqual: return x <= y ? 1 : 0
    case .greater: return x > y ? 1 : 0
    case .greaterEqual: return x >= y ? 1 : 0
    case .equal: return x == y ? 1 : 0
    case .notEqual: return x != y ? 1 : 0
    case .logicalAnd: return x != 0 && y != 0 ? 1 : 0
    case .logicalOr: return x != 0 || y != 0 ? 1 : 0
    case .negative: return -x
    case .logicalNot: return x == 0 ? 1 : 0
    case .abs: return Swift.abs(x)
    case .sign: return x > 0 ? 1 : x < 0 ? -1 : x
    case .floor: return x.rounded(.down)
    case .ceil: return x.rounded(.up)
    case .round: return x.rounded(.toNearestOrEven)
    case .sqrt: return x.squareRoot()
    case .rsqrt: return 1 / x.squareRoot()
    case .square: return x * x
    case .reciprocal: return 1 / x
    case .exp: return LibC.exp(x)
    case .expm1: return LibC.expm1(x)
    case .log: return LibC.log(x)
    case .log1p: return LibC.log1p(x)
    case .sin: return LibC.sin(x)
    case .cos: return LibC.cos(x)
    case .tan: return LibC.tan(x)
    case .asin: return LibC.asin(x)
    case .acos: return LibC.acos(x)
    case .atan: return LibC.atan(x)
    case .sinh: return LibC.sinh(x)
    case .cosh: return LibC.cosh(x)
    case .tanh: return LibC.tanh(x)
    case .erf: return LibC.erf(x)
    case .sigmoid: return 1 / (1 + LibC.exp(-x))
    case .relu: return Self.larger(x, 0)
    case .softplus: return Self.softplus(x)
    case .softsign: return x / (1 + Swift.abs(x))
    case .swish: return x / (1 + LibC.exp(-x))
    case .mish: return x * LibC.tanh(Self.softplus(x))
    case .gelu: return x / 2 * LibC.erfc(-x / 2.0.squareRoot())
    case .tanhGelu:
      return x / (1 + LibC.exp(-2 * Self.tanhGeluFactor * (x + 0.044715 * x * x * x)))
    case .elu: return x > 0 ? x : y * LibC.expm1(x)
    case .clip: return Self.smaller(Self.larger(x, y), operands[2])
    case .choose: return x != 0 ? y : operands[2]
    }
  }

  /// √(2/π)
  private static let tanhGeluFactor = 0.7978845608028654

  /// The function composed of others, if it is `x` times a sigmoid, a hyperbolic tangent or an
  /// error function.
  package func composed(_ operands: [Expression]) throws -> Expression? {
    let x = operands[0]
    switch self {
    case .swish: return try .apply(.multiply, x, .apply(.sigmoid, x))
    case .mish: return try .apply(.multiply, x, .apply(.tanh, .apply(.softplus, x)))
    case .gelu:
      return try Self.half(x, .apply(.erf, .apply(.multiply, x, .number(0.7071067811865476))))
    case .tanhGelu:
      let cube = try Expression.apply(.power, x, .number(3))
      let sum = try Expression.apply(.add, x, .apply(.multiply, .number(0.044715), cube))
      return try Self.half(
        x, .apply(.tanh, .apply(.multiply, .number(Self.tanhGeluFactor), sum)))
    default: return nil
    }
  }

  /// x/2 · (1 + inner)
  private static func half(_ x: Expression, _ inner: Expression) throws -> Expression {
    try .apply(
      .multiply, .apply(.multiply, .number(0.5), x), .apply(.add, .number(1), inner))
  }

  private static func softplus(_ x: Double) -> Double {
    larger(x, 0) + LibC.log1p(LibC.exp(-Swift.abs(x)))
  }

  private static func smaller(_ x: Double, _ y: Double) -> Double {
    x.isNaN || y.isNaN ? .nan : Swift.min(x, y)
  }

  private static func larger(_ x: Double, _ y: Double) -> Double {
    x.isNaN || y.isNaN ? .nan : Swift.max(x, y)
  }
}
