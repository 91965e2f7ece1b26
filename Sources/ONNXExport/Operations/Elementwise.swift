import CoreMLModel
import TensorCore

/// Functions of one value whose types are their names capitalized.
let namesakeRules: [String: ONNXRule] = Dictionary(
  uniqueKeysWithValues: (Activation.Function.plain.keys + [
    "ceil", "floor", "round", "sign", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "atanh", "erf", "exp", "sqrt", "abs",
  ]).map { ($0, unary(capitalized($0))) })

let activationRules: [String: ONNXRule] = [
  "leaky_relu": { [try $0.activation("LeakyRelu", alpha: 0.01)] },
  "elu": { [try $0.activation("Elu", alpha: 1)] },
  "thresholded_relu": one { call in
    // ONNX's ThresholdedRelu excludes alpha itself.
    let (x, alpha) = (try call.value("x"), try call.float("alpha", 1))
    return try call.add(
      "Where",
      [
        call.add("Less", [x, call.scalar(alpha, x.type)], type: .bool), call.scalar(0, x.type), x,
      ], type: x.type, shape: x.shape)
  },
  "sigmoid_hard": one { call in
    try call.add(
      "HardSigmoid", [call.value("x")],
      [("alpha", .float(call.float("alpha", 0.2))), ("beta", .float(call.float("beta", 0.5)))])
  },
  "scaled_tanh": { call in
    let inner = try call.linear(call.value("x"), call.float("beta", 1))
    return [try call.linear(call.add("Tanh", [inner]), call.float("alpha", 1))]
  },
  "linear_activation": { call in
    [try call.linear(call.value("x"), call.float("alpha", 1), call.float("beta", 0))]
  },
  "relu6": { [try $0.clip($0.value("x"), 0, 6)] },
  "clamped_relu": { call in
    let x = try call.activation("LeakyRelu", alpha: 1)
    return [try call.clip(x, nil, call.float("beta", 1))]
  },
  "silu": { call in
    let x = try call.value("x")
    return [try call.binary("Mul", x, call.add("Sigmoid", [x]))]
  },
  "gelu": { try $0.gelu() },
  Activation.Function.parametric.operation: { call in
    let x = try call.value("x")
    let inner = try call.binary("Mul", x, call.perChannel("beta", x))
    let type = capitalized(Activation.Function.parametric.function.row.operation)
    return [try call.binary("Mul", call.add(type, [inner]), call.perChannel("alpha", x))]
  },
  "prelu": { call in
    let x = try call.value("x")
    return [try call.binary("PRelu", x, call.perChannel("alpha", x))]
  },
]

let unaryRules: [String: ONNXRule] = [
  "logical_not": unary("Not"),
  "exp2": { call in
    let x = try call.value("x")
    return [try call.add("Pow", [call.scalar(2, x.type), x], shape: x.shape)]
  },
  "rsqrt": { call in
    let x = try call.shifted(1e-12)
    return [try call.add("Reciprocal", [call.add("Sqrt", [x])])]
  },
  "inverse": { [try $0.add("Reciprocal", [$0.shifted(1e-4)])] },
  "log": { [try $0.add("Log", [$0.shifted(.leastNonzeroMagnitude)])] },
  "threshold": { [try $0.binary("Max", $0.value("x"), $0.float("alpha", 0))] },
  "square": { call in
    let x = try call.value("x")
    return [try call.binary("Mul", x, x)]
  },
  "clip": { [try $0.clip($0.value("x"), $0.float("alpha", 0), $0.float("beta", 0))] },
  "cast": { call in
    [try call.cast(call.value("x"), to: call.dataType("dtype", .float32))]
  },
  "identity": { [try $0.value("x")] },
]

let binaryRules: [String: ONNXRule] = [
  "add": binary("Add"), "sub": binary("Sub"), "mul": binary("Mul"), "real_div": binary("Div"),
  "maximum": binary("Max"), "minimum": binary("Min"), "pow": binary("Pow"),
  "floor_div": { [try $0.floorOfQuotient($0.value("x"), $0.value("y"))] },
  "mod": one { call in
    let (x, y) = (try call.value("x"), try call.value("y"))
    if !x.type.isFloat { return try call.binary("Mod", x, y) }
    return try call.binary("Sub", x, call.binary("Mul", call.floorOfQuotient(x, y), y))
  },
  "logical_and": binary("And"), "logical_or": binary("Or"), "logical_xor": binary("Xor"),
  "equal": binary("Equal"), "less": binary("Less"), "less_equal": binary("LessOrEqual"),
  "greater": binary("Greater"), "greater_equal": binary("GreaterOrEqual"),
  "not_equal": { call in
    [try call.add("Not", [call.binary("Equal", call.value("x"), call.value("y"))], type: .bool)]
  },
  "select": one { call in
    let a = try call.value("a")
    return try call.add(
      "Where", [call.cast(call.value("cond"), to: .bool), a, call.value("b")], type: a.type)
  },
]

private func unary(_ type: String) -> ONNXRule { { [try $0.add(type, [$0.value("x")])] } }

private func capitalized(_ name: String) -> String {
  name.prefix(1).uppercased() + name.dropFirst()
}

private func binary(_ type: String) -> ONNXRule {
  { [try $0.binary(type, $0.value("x"), $0.value("y"))] }
}

extension ExportedOperation {
  fileprivate func activation(_ type: String, alpha: Float) throws -> GraphValue {
    try add(type, [value("x")], [("alpha", .float(float("alpha", alpha)))])
  }

  /// factor · x + offset
  func linear(_ x: GraphValue, _ factor: Float, _ offset: Float = 0) throws -> GraphValue {
    let product = factor == 1 ? x : try binary("Mul", x, factor)
    return offset == 0 ? product : try binary("Add", product, offset)
  }

  func clip(_ x: GraphValue, _ low: Float?, _ high: Float?) throws -> GraphValue {
    func bound(_ value: Float?) throws -> GraphValue {
      try value.map { try scalar($0, x.type) } ?? .missing
    }
    return try add("Clip", [x, bound(low), bound(high)])
  }

  /// x + epsilon
  fileprivate func shifted(_ epsilon: Float) throws -> GraphValue {
    try linear(value("x"), 1, float("epsilon", epsilon))
  }

  /// Constants along the second axis of x.
  fileprivate func perChannel(_ name: String, _ x: GraphValue) throws -> GraphValue {
    let values = try floats(name) ?? []
    try require(x.rank > 1, "the input has rank \(x.rank); at least 2 is needed", field: "x")
    return try array(values, [values.count] + [Int](repeating: 1, count: x.rank - 2), x.type)
  }

  /// x / y, rounded down; integers are divided in double precision, which represents them exactly.
  fileprivate func floorOfQuotient(_ x: GraphValue, _ y: GraphValue) throws -> GraphValue {
    if x.type.isFloat { return try add("Floor", [binary("Div", x, y)]) }
    let quotient = try binary("Div", cast(x, to: .float64), cast(y, to: .float64))
    return try cast(add("Floor", [quotient]), to: x.type)
  }

  fileprivate func gelu() throws -> [GraphValue] {
    let (x, mode) = (try value("x"), try string("mode", "EXACT"))
    if graph.opset >= 20, mode != "SIGMOID_APPROXIMATION" {
      let form = mode == "EXACT" ? "none" : "tanh"
      return [try add("Gelu", [x], [("approximate", .string(form))])]
    }
    switch mode {
    case "EXACT":
      let distribution = try linear(add("Erf", [linear(x, Float(0.5).squareRoot())]), 1, 1)
      return [try linear(binary("Mul", x, distribution), 0.5)]
    case "TANH_APPROXIMATION":
      // √(2 / π) · (x + 0.044715 · x³)
      let cube = try binary("Mul", x, binary("Mul", x, x))
      let inner = try linear(binary("Add", x, linear(cube, 0.044715)), 0.797_884_6)
      return [try linear(binary("Mul", x, linear(add("Tanh", [inner]), 1, 1)), 0.5)]
    case "SIGMOID_APPROXIMATION":
      return [try binary("Mul", x, add("Sigmoid", [linear(x, 1.702)]))]
    default: throw unsupported("mode '\(mode)' is not supported", field: "mode")
    }
  }
}
