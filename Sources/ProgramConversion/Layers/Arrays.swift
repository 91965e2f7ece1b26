import CoreMLModel
import TensorCore

/// An element-wise function, computed by the operation with the name of the type.
protocol ElementOperationLayer: OperationLayer {}

extension ElementOperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [try call.add(Self.typeName, call.number())]
  }
}

extension Ceil: ElementOperationLayer {}
extension Floor: ElementOperationLayer {}
extension Sign: ElementOperationLayer {}
extension Round: ElementOperationLayer {}
extension Exp2: ElementOperationLayer {}
extension Sin: ElementOperationLayer {}
extension Cos: ElementOperationLayer {}
extension Tan: ElementOperationLayer {}
extension Asin: ElementOperationLayer {}
extension Acos: ElementOperationLayer {}
extension Atan: ElementOperationLayer {}
extension Sinh: ElementOperationLayer {}
extension Cosh: ElementOperationLayer {}
extension Tanh: ElementOperationLayer {}
extension Atanh: ElementOperationLayer {}
extension Erf: ElementOperationLayer {}

extension Asinh: OperationLayer {
  /// sign(x) · log(|x| + √(x² + 1))
  func operations(_ call: LayerCall) throws -> [Variable] {
    let x = try call.number()
    let size = try call.add("abs", x)
    let root = try call.add("sqrt", call.combine("add", call.add("square", x), 1))
    let log = try call.add("log", call.combine("add", size, root), [("epsilon", .number(0))])
    return [try call.combine("mul", call.add("sign", x), log)]
  }
}

extension Acosh: OperationLayer {
  /// log(x + √(x² − 1))
  func operations(_ call: LayerCall) throws -> [Variable] {
    let x = try call.number()
    let root = try call.add("sqrt", call.combine("sub", call.add("square", x), 1))
    return [try call.add("log", call.combine("add", x, root), [("epsilon", .number(0))])]
  }
}

extension Clip: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [try call.add("clip", call.number(), [("alpha", .number(minVal)), ("beta", .number(maxVal))])]
  }
}

extension ClampedReLU: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [
      try call.add(
        "clamped_relu", call.number(), [("alpha", .number(alpha)), ("beta", .number(beta))])
    ]
  }
}

extension Gelu: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    let name =
      switch mode {
      case .exact: "EXACT"
      case .tanhApproximation: "TANH_APPROXIMATION"
      case .sigmoidApproximation: "SIGMOID_APPROXIMATION"
      }
    return [try call.add("gelu", call.number(), [("mode", .text(name))])]
  }
}

// MARK: - Two arrays

/// A binary operation with broadcasting.
protocol PairOperationLayer: OperationLayer {
  var operation: String { get }
}

extension PairOperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [try call.combine(operation, call.array(0), call.array(1))]
  }
}

extension AddBroadcastable: PairOperationLayer { var operation: String { "add" } }
extension SubtractBroadcastable: PairOperationLayer { var operation: String { "sub" } }
extension MultiplyBroadcastable: PairOperationLayer { var operation: String { "mul" } }
extension DivideBroadcastable: PairOperationLayer { var operation: String { "real_div" } }
extension FloorDivBroadcastable: PairOperationLayer { var operation: String { "floor_div" } }
extension ModBroadcastable: PairOperationLayer { var operation: String { "mod" } }
extension PowBroadcastable: PairOperationLayer { var operation: String { "pow" } }
extension MaxBroadcastable: PairOperationLayer { var operation: String { "maximum" } }
extension MinBroadcastable: PairOperationLayer { var operation: String { "minimum" } }

/// A comparison with a boolean result.
protocol ComparisonOperationLayer: OperationLayer, ComparisonLayer {
  var operation: String { get }
}

extension ComparisonOperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [
      call.inputs.count == 1
        ? try call.combine(operation, call.array(), alpha, type: .bool)
        : try call.combine(operation, call.array(0), call.array(1), type: .bool)
    ]
  }
}

extension Equal: ComparisonOperationLayer { var operation: String { "equal" } }
extension NotEqual: ComparisonOperationLayer { var operation: String { "not_equal" } }
extension LessThan: ComparisonOperationLayer { var operation: String { "less" } }
extension LessEqual: ComparisonOperationLayer { var operation: String { "less_equal" } }
extension GreaterThan: ComparisonOperationLayer { var operation: String { "greater" } }
extension GreaterEqual: ComparisonOperationLayer { var operation: String { "greater_equal" } }

/// An operation on booleans.
protocol FlagOperationLayer: OperationLayer {
  var operation: String { get }
}

extension FlagOperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    let x = try call.flags(0)
    return [
      call.inputs.count == 1
        ? try call.add(operation, x) : try call.combine(operation, x, call.flags(1))
    ]
  }
}

extension LogicalOr: FlagOperationLayer { var operation: String { "logical_or" } }
extension LogicalXor: FlagOperationLayer { var operation: String { "logical_xor" } }
extension LogicalAnd: FlagOperationLayer { var operation: String { "logical_and" } }
extension LogicalNot: FlagOperationLayer { var operation: String { "logical_not" } }

extension WhereBroadcastable: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    let shape = call.outputShapes[0]
    return [
      try call.select(
        call.broadcast(call.flags(0), to: shape), call.broadcast(call.array(1), to: shape),
        call.broadcast(call.array(2), to: shape))
    ]
  }
}
