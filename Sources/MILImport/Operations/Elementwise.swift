import CoreMLModel
import TensorCore

let plainActivationRules = Activation.Function.plain.map { name, plain in
  OperationRule(name, "x", plain.formula) { try $0.activation(plain.function) }
}

/// Activation functions with parameters, and those that are several layers.
let activationRules: [OperationRule] = [
  OperationRule("leaky_relu", "x alpha?", "x, or alpha · x if x < 0") {
    try $0.activation(.leakyReLU(alpha: $0.float("alpha", 0.01)))
  },
  OperationRule("elu", "x alpha?", "x, or alpha · (exp(x) − 1) if x < 0") {
    try $0.activation(.elu(alpha: $0.float("alpha", 1)))
  },
  OperationRule("thresholded_relu", "x alpha?", "x, or 0 if x < alpha") {
    try $0.activation(.thresholdedReLU(alpha: $0.float("alpha", 1)))
  },
  OperationRule("sigmoid_hard", "x alpha? beta?", "alpha · x + beta, clipped to 0…1") {
    try $0.activation(.sigmoidHard(alpha: $0.float("alpha", 0.2), beta: $0.float("beta", 0.5)))
  },
  OperationRule("scaled_tanh", "x alpha? beta?", "alpha · tanh(beta · x)") {
    try $0.activation(.scaledTanh(alpha: $0.float("alpha", 1), beta: $0.float("beta", 1)))
  },
  OperationRule("linear_activation", "x alpha beta?", "alpha · x + beta") {
    try $0.activation(.linear(alpha: $0.float("alpha", 1), beta: $0.float("beta", 0)))
  },
  OperationRule("relu6", "x", "x, clipped to 0…6") { [try $0.clipped($0.value("x"), 0, 6)] },
  OperationRule("clamped_relu", "x alpha? beta?", "x, or alpha · x if x < 0; at most beta") {
    call in
    let layer = try ClampedReLU().with(\.alpha, call.float("alpha", 1))
      .with(\.beta, call.float("beta", 1))
    return [try call.add(layer, call.value("x"))]
  },
  OperationRule("silu", "x", "x / (1 + exp(−x))") { call in
    let x = try call.value("x")
    return [try call.add(MultiplyBroadcastable(), x, call.add(Activation(.sigmoid), x))]
  },
  OperationRule("gelu", "x mode?", "x · Φ(x), exactly or approximately") { call in
    [try call.add(Gelu().with(\.mode, call.mode("mode", .exact)), call.value("x"))]
  },
  OperationRule(
    Activation.Function.parametric.operation, "x alpha beta",
    "alpha · log(1 + exp(beta · x)), for each channel"
  ) { call in
    let x = try call.value("x")
    let inner = try call.times(x, call.perChannel("beta", x))
    let layer = Activation(Activation.Function.parametric.function)
    return [try call.times(call.add(layer, inner), call.perChannel("alpha", x))]
  },
  OperationRule("prelu", "x alpha", "x, or alpha · x if x < 0, with alpha per channel") { call in
    let x = try call.input(ranks: 2...Int.max)
    guard let alpha = try call.weights("alpha", shape: [x.shape[1]]) else { return [] }
    if x.rank == 3 || x.rank == 4 {
      return [try call.asPlanes(x) { try call.add(Activation(.prelu(alpha: alpha)), $0) }]
    }
    // max(x, 0) + alpha · min(x, 0)
    let slopes = try call.perChannel("alpha", x)
    let low = try call.add(MinBroadcastable(), x, call.scalar(0, x.type))
    return [
      try call.add(
        AddBroadcastable(), call.add(Activation(.relu), x),
        call.add(MultiplyBroadcastable(), low, slopes))
    ]
  },
]

extension OperationCall {
  fileprivate func activation(_ function: Activation.Function) throws -> [ProgramValue] {
    [try add(Activation(function), value("x"))]
  }

  /// Constants along the second axis of x.
  fileprivate func perChannel(_ name: String, _ x: ProgramValue) throws -> ProgramValue {
    let values = try floats(name) ?? []
    try require(
      x.rank > 1 && values.count == x.shape[1],
      "\(values.count) values for an input of shape \(x.shape)", field: name)
    var shape = [Int](repeating: 1, count: x.rank)
    shape[1] = values.count
    return constant(values, shape, x.type)
  }

  func clipped(_ x: ProgramValue, _ low: Float, _ high: Float) throws -> ProgramValue {
    try add(Clip().with(\.minVal, low).with(\.maxVal, high), x)
  }

  fileprivate func unary(
    _ type: Unary.Operation, epsilon: Float = 0, shift: Float = 0, alpha: Float = 0
  ) throws -> [ProgramValue] {
    // In a layer, 0 means that epsilon is unset.
    let layer = Unary().with(\.type, type).with(\.epsilon, epsilon == 0 ? -0.0 : epsilon)
    return [try add(layer.with(\.shift, shift).with(\.alpha, alpha), value("x"))]
  }

  /// Rounds floats toward zero.
  func truncated(_ x: ProgramValue) throws -> ProgramValue {
    try add(
      WhereBroadcastable(), add(GreaterThan().with(\.alpha, 0), x, type: .bool),
      add(Floor(), x), add(Ceil(), x), type: x.type)
  }

  /// Casts the value to another type.
  func cast(_ x: ProgramValue, _ type: MILDataType) throws -> ProgramValue {
    if type == .bool { return x.type == .bool ? x : try add(NotEqual(), x, type: .bool) }
    let isWhole = !type.isFloat && x.type.isFloat
    return try (isWhole ? truncated(x) : x).with(type: type)
  }
}

/// Unary functions.
let unaryRules: [OperationRule] = [
  element("ceil", "x, rounded up", Ceil()),
  element("floor", "x, rounded down", Floor()),
  element("round", "x, rounded to the nearest integer, halves to even", Round()),
  element("sign", "−1, 0 or 1", Sign()),
  element("sin", "sin x", Sin()), element("cos", "cos x", Cos()), element("tan", "tan x", Tan()),
  element("asin", "arcsin x", Asin()), element("acos", "arccos x", Acos()),
  element("atan", "arctan x", Atan()), element("sinh", "sinh x", Sinh()),
  element("cosh", "cosh x", Cosh()), element("atanh", "artanh x", Atanh()),
  element("erf", "the error function", Erf()), element("exp2", "2ˣ", Exp2()),
  element("logical_not", "1 if x is 0", LogicalNot()),
  OperationRule("abs", "x", "|x|") { try $0.unary(.abs) },
  OperationRule("exp", "x", "eˣ") { try $0.unary(.exp) },
  OperationRule("sqrt", "x", "√x") { try $0.unary(.sqrt) },
  OperationRule("rsqrt", "x epsilon?", "1 / √(x + epsilon)") { call in
    try call.unary(.rsqrt, epsilon: call.float("epsilon", 1e-12))
  },
  OperationRule("inverse", "x epsilon?", "1 / (x + epsilon)") { call in
    try call.unary(.inverse, epsilon: call.float("epsilon", 1e-4))
  },
  OperationRule("log", "x epsilon?", "log(x + epsilon)") { call in
    try call.unary(.log, shift: call.float("epsilon", .leastNonzeroMagnitude))
  },
  OperationRule("threshold", "x alpha", "max(x, alpha)") { call in
    try call.unary(.threshold, alpha: call.float("alpha", 0))
  },
  OperationRule("square", "x", "x²") { call in
    let x = try call.value("x")
    return [try call.add(MultiplyBroadcastable(), x, x)]
  },
  OperationRule("clip", "x alpha beta", "x, clipped to alpha…beta") { call in
    [try call.clipped(call.value("x"), call.float("alpha", 0), call.float("beta", 0))]
  },
  OperationRule("cast", "x dtype", "converts x to another type") { call in
    let type = try call.dataType("dtype", .float32)
    return [try call.cast(call.value("x"), type)]
  },
  OperationRule("identity", "x", "x") { [try $0.value("x")] },
]

private func element(_ name: String, _ summary: String, _ layer: any LayerParameters)
  -> OperationRule
{
  OperationRule(name, "x", summary) { [try $0.add(layer, $0.value("x"))] }
}

/// Binary functions with broadcasting.
let binaryRules: [OperationRule] = [
  binary("add", "x + y", AddBroadcastable()), binary("sub", "x − y", SubtractBroadcastable()),
  binary("mul", "x · y", MultiplyBroadcastable()),
  OperationRule("real_div", "x y", "x / y; for integers, rounded toward 0") { call in
    let (x, y) = try call.pair()
    let quotient = try call.add(DivideBroadcastable(), x, y)
    return [x.type.isFloat ? quotient : try call.truncated(quotient)]
  },
  binary("floor_div", "x / y, rounded down", FloorDivBroadcastable()),
  binary("mod", "x − y · floor(x / y)", ModBroadcastable()),
  binary("maximum", "max(x, y)", MaxBroadcastable()),
  binary("minimum", "min(x, y)", MinBroadcastable()), binary("pow", "xʸ", PowBroadcastable()),
  binary("logical_and", "1 if both are nonzero, else 0", LogicalAnd()),
  binary("logical_or", "1 if at least one is nonzero, else 0", LogicalOr()),
  binary("logical_xor", "1 if exactly one is nonzero, else 0", LogicalXor()),
]

private func binary(_ name: String, _ summary: String, _ layer: any LayerParameters)
  -> OperationRule
{
  OperationRule(name, "x y", summary) { call in
    let (x, y) = try call.pair()
    return [try call.add(layer, x, y)]
  }
}

extension OperationCall {
  /// Two arrays of one type.
  fileprivate func pair() throws -> (x: ProgramValue, y: ProgramValue) {
    let (x, y) = (try value("x"), try value("y"))
    try require(x.type == y.type, "the types differ: \(x.type.name) and \(y.type.name)", field: "y")
    return (x, y)
  }
}

let comparisonRules: [OperationRule] = [
  comparison("equal", "x = y", Equal()), comparison("not_equal", "x ≠ y", NotEqual()),
  comparison("less", "x < y", LessThan()), comparison("less_equal", "x ≤ y", LessEqual()),
  comparison("greater", "x > y", GreaterThan()),
  comparison("greater_equal", "x ≥ y", GreaterEqual()),
  OperationRule("select", "cond a b", "a where cond is nonzero, else b") { call in
    let (a, b) = (try call.value("a"), try call.value("b"))
    return [try call.add(WhereBroadcastable(), call.value("cond"), a, b, type: a.type)]
  },
]

private func comparison(_ name: String, _ summary: String, _ layer: any LayerParameters)
  -> OperationRule
{
  OperationRule(name, "x y", "1 if \(summary), else 0") { call in
    [try call.add(layer, call.value("x"), call.value("y"), type: .bool)]
  }
}
