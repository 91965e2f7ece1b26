import LibC

/// An element function of arrays that are broadcast to each other. A condition is 1 or 0.
package enum ElementFunction: String, Sendable, CaseIterable {
  case add, subtract, multiply, divide, floorDivide, modulo, power, minimum, maximum
  case less, lessEqual, greater, greaterEqual, equal, notEqual, logicalAnd, logicalOr, logicalNot
  case negative, abs, sign, floor, ceil, round, sqrt, rsqrt, square, reciprocal
  case exp, expm1, log, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, erf
  case sigmoid, relu, softplus, softsign, swish, mish, gelu, tanhGelu, elu, clip, choose

  /// A function's row in the table.
  package struct Row: Sendable {
    package let operandCount: Int
    /// The names in formulas and frameworks; none if a name can mean several functions.
    package let names: [String]
    /// The operation of an ML Program, and its additional argument.
    package let operation: String?
    package let argument: (name: String, value: Float)?
    /// An expression of X, Y and Z in Metal; nil for the function with the operation's name.
    package let metal: String?
    /// A formula of other functions that is equivalent.
    fileprivate let composition: String?
    private let formula: @Sendable (_ x: Double, _ y: Double, _ z: Double) -> Double

    fileprivate init(
      _ operandCount: Int, _ names: String, _ operation: String?, epsilon: Float? = nil,
      _ metal: String? = nil, of composition: String? = nil,
      _ formula: @escaping @Sendable (Double, Double, Double) -> Double
    ) {
      self.operandCount = operandCount
      self.names = names.split(separator: " ").map(String.init)
      self.operation = operation
      argument = epsilon.map { ("epsilon", $0) }
      (self.metal, self.composition, self.formula) = (metal, composition, formula)
    }

    /// - Precondition: the number of operands is `operandCount`.
    package func value(_ operands: [Double]) -> Double {
      let y = operands.count > 1 ? operands[1] : 0
      return formula(operands[0], y, operands.count > 2 ? operands[2] : 0)
    }
  }

  package var row: Row { Self.rows[self] ?? Row(1, "", nil) { x, _, _ in x } }

  /// Functions in formulas that are defined by a formula of x.
  static let formulas = [
    "relu6": "clip(x, 0, 6)", "selu": "1.0507009873554805 * elu(x, 1.6732632423543772)",
    "hard_sigmoid": "clip(0.2 * x + 0.5, 0, 1)", "log_sigmoid": "-softplus(-x)",
  ]

  /// Functions that networks express by other functions.
  package static let activations: [ElementFunction] = [
    .relu, .swish, .sigmoid, .tanh, .softplus, .softsign,
  ]

  /// The operators of Python.
  package static let operators: [String: ElementFunction] = [
    "+": .add, "-": .subtract, "*": .multiply, "/": .divide, "//": .floorDivide, "%": .modulo,
    "**": .power, "<": .less, "<=": .lessEqual, ">": .greater, ">=": .greaterEqual, "==": .equal,
    "!=": .notEqual, "&": .logicalAnd, "|": .logicalOr,
  ]

  /// Whether the result is 1 or 0 for numeric operands.
  package var isComparison: Bool {
    switch self {
    case .less, .lessEqual, .greater, .greaterEqual, .equal, .notEqual: true
    default: false
    }
  }

  package var operandCount: Int { row.operandCount }

  /// - Precondition: the number of operands is `operandCount`.
  package func value(_ operands: [Double]) -> Double { row.value(operands) }

  private static let rows: [ElementFunction: Row] = [
    .add: Row(2, "add", "add", "X + Y") { x, y, _ in x + y },
    .subtract: Row(2, "subtract", "sub", "X - Y") { x, y, _ in x - y },
    .multiply: Row(2, "multiply", "mul", "X * Y") { x, y, _ in x * y },
    .divide: Row(2, "divide truediv true_divide", "real_div", "X / Y") { x, y, _ in x / y },
    .floorDivide: Row(2, "floor_divide floordiv", "floor_div", "floor(X / Y)") { x, y, _ in
      (x / y).rounded(.down)
    },
    // The result has the sign of the divisor.
    .modulo: Row(2, "modulo mod floormod", "mod", "X - Y * floor(X / Y)") { x, y, _ in
      x - y * (x / y).rounded(.down)
    },
    .power: Row(2, "power pow", "pow", "formula_power(X, Y)") { x, y, _ in LibC.pow(x, y) },
    .minimum: Row(2, "minimum", "minimum", "min(X, Y)") { x, y, _ in smaller(x, y) },
    .maximum: Row(2, "maximum", "maximum", "max(X, Y)") { x, y, _ in larger(x, y) },
    .less: Row(2, "less", "less", "float4(X < Y)") { x, y, _ in x < y ? 1 : 0 },
    .lessEqual: Row(2, "less_equal", "less_equal", "float4(X <= Y)") { x, y, _ in x <= y ? 1 : 0 },
    .greater: Row(2, "greater", "greater", "float4(X > Y)") { x, y, _ in x > y ? 1 : 0 },
    .greaterEqual: Row(2, "greater_equal", "greater_equal", "float4(X >= Y)") { x, y, _ in
      x >= y ? 1 : 0
    },
    .equal: Row(2, "equal", "equal", "float4(X == Y)") { x, y, _ in x == y ? 1 : 0 },
    .notEqual: Row(2, "not_equal", "not_equal", "float4(X != Y)") { x, y, _ in x != y ? 1 : 0 },
    .logicalAnd: Row(2, "logical_and", "logical_and", "float4(X != 0.0f && Y != 0.0f)") { x, y, _ in
      x != 0 && y != 0 ? 1 : 0
    },
    .logicalOr: Row(2, "logical_or", "logical_or", "float4(X != 0.0f || Y != 0.0f)") { x, y, _ in
      x != 0 || y != 0 ? 1 : 0
    },
    .logicalNot: Row(1, "logical_not", "logical_not", "float4(X == 0.0f)") { x, _, _ in
      x == 0 ? 1 : 0
    },
    .negative: Row(1, "negative", nil, "-X") { x, _, _ in -x },
    .abs: Row(1, "abs absolute", "abs") { x, _, _ in Swift.abs(x) },
    .sign: Row(1, "sign", "sign") { x, _, _ in x > 0 ? 1 : x < 0 ? -1 : x },
    .floor: Row(1, "floor", "floor") { x, _, _ in x.rounded(.down) },
    .ceil: Row(1, "ceil", "ceil") { x, _, _ in x.rounded(.up) },
    // Rounds ties to even.
    .round: Row(1, "round rint", "round", "rint(X)") { x, _, _ in x.rounded(.toNearestOrEven) },
    .sqrt: Row(1, "sqrt", "sqrt") { x, _, _ in x.squareRoot() },
    .rsqrt: Row(1, "rsqrt", "rsqrt", epsilon: 0) { x, _, _ in 1 / x.squareRoot() },
    .square: Row(1, "square", "square", "X * X") { x, _, _ in x * x },
    .reciprocal: Row(1, "reciprocal", "inverse", epsilon: 0, "1.0f / X") { x, _, _ in 1 / x },
    .exp: Row(1, "exp", "exp") { x, _, _ in LibC.exp(x) },
    .expm1: Row(1, "expm1", nil, "exp(X) - 1.0f") { x, _, _ in LibC.expm1(x) },
    .log: Row(1, "log", "log", epsilon: 0) { x, _, _ in LibC.log(x) },
    // The operation computes log(x + epsilon).
    .log1p: Row(1, "log1p", "log", epsilon: 1, "log(1.0f + X)") { x, _, _ in LibC.log1p(x) },
    .sin: Row(1, "sin", "sin") { x, _, _ in LibC.sin(x) },
    .cos: Row(1, "cos", "cos") { x, _, _ in LibC.cos(x) },
    .tan: Row(1, "tan", "tan") { x, _, _ in LibC.tan(x) },
    .asin: Row(1, "asin arcsin", "asin") { x, _, _ in LibC.asin(x) },
    .acos: Row(1, "acos arccos", "acos") { x, _, _ in LibC.acos(x) },
    .atan: Row(1, "atan arctan", "atan") { x, _, _ in LibC.atan(x) },
    .sinh: Row(1, "sinh", "sinh") { x, _, _ in LibC.sinh(x) },
    .cosh: Row(1, "cosh", "cosh") { x, _, _ in LibC.cosh(x) },
    .tanh: Row(1, "tanh", "tanh") { x, _, _ in LibC.tanh(x) },
    .erf: Row(1, "erf", "erf", "formula_erf(X)") { x, _, _ in LibC.erf(x) },
    .sigmoid: Row(1, "sigmoid", "sigmoid", "1.0f / (1.0f + exp(-X))") { x, _, _ in
      1 / (1 + LibC.exp(-x))
    },
    .relu: Row(1, "", "relu", "max(X, float4(0.0f))") { x, _, _ in larger(x, 0) },
    .softplus: Row(
      1, "softplus", "softplus", "max(X, float4(0.0f)) + log(1.0f + exp(-abs(X)))"
    ) { x, _, _ in softplus(x) },
    .softsign: Row(1, "softsign", "softsign", "X / (1.0f + abs(X))") { x, _, _ in
      x / (1 + Swift.abs(x))
    },
    .swish: Row(1, "swish silu", "silu", of: "x * sigmoid(x)") { x, _, _ in
      x / (1 + LibC.exp(-x))
    },
    .mish: Row(1, "mish", nil, of: "x * tanh(softplus(x))") { x, _, _ in
      x * LibC.tanh(softplus(x))
    },
    .gelu: Row(1, "", "gelu", of: "0.5 * x * (1 + erf(x * 0.7071067811865476))") { x, _, _ in
      x / 2 * LibC.erfc(-x / 2.0.squareRoot())
    },
    .tanhGelu: Row(
      1, "", "gelu", of: "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))"
    ) { x, _, _ in
      x / (1 + LibC.exp(-2 * tanhGeluFactor * (x + 0.044715 * x * x * x)))
    },
    .elu: Row(2, "", "elu", "select(Y * (exp(X) - 1.0f), X, X > 0.0f)") { x, y, _ in
      x > 0 ? x : y * LibC.expm1(x)
    },
    .clip: Row(3, "", "clip", "min(max(X, Y), Z)") { x, y, z in smaller(larger(x, y), z) },
    .choose: Row(3, "", "select", "select(Z, Y, X != 0.0f)") { x, y, z in x != 0 ? y : z },
  ]

  /// √(2/π)
  private static let tanhGeluFactor = 0.7978845608028654

  /// The equivalent expression of other functions, if the function is `x` times a sigmoid, a
  /// hyperbolic tangent or an error function.
  package func composed(_ operands: [Expression]) throws -> Expression? {
    try row.composition.map { try Expression(parsing: $0).replacing(["x": operands[0]]) }
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
