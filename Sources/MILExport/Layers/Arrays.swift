import CoreMLModel
import TensorCore

/// An elementwise function, computed by the operation with the name of the type.
protocol ElementOperationLayer: OneResultLayer {}

extension ElementOperationLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add(Self.typeName, layer.number())
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

extension Asinh: OneResultLayer {
  /// sign(x) · log(|x| + √(x² + 1))
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.number()
    let size = try layer.add("abs", x)
    let root = try layer.add("sqrt", layer.combine("add", layer.add("square", x), 1))
    let log = try layer.add("log", layer.combine("add", size, root), [("epsilon", .number(0))])
    return try layer.combine("mul", layer.add("sign", x), log)
  }
}

extension Acosh: OneResultLayer {
  /// log(x + √(x² − 1))
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.number()
    let root = try layer.add("sqrt", layer.combine("sub", layer.add("square", x), 1))
    return try layer.add("log", layer.combine("add", x, root), [("epsilon", .number(0))])
  }
}

extension Clip: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add("clip", layer.number(), [("alpha", .number(minVal)), ("beta", .number(maxVal))])
  }
}

extension ClampedReLU: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add(
      "clamped_relu", layer.number(), [("alpha", .number(alpha)), ("beta", .number(beta))])
  }
}

extension Gelu: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add("gelu", layer.number(), [("mode", .text(mode.operationName))])
  }
}

// MARK: - Two arrays

/// A binary operation with broadcasting.
protocol PairOperationLayer: OneResultLayer { var operation: String { get } }

extension PairOperationLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.combine(operation, layer.array(0), layer.array(1))
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
protocol ComparisonOperationLayer: OneResultLayer, ComparisonLayer { var operation: String { get } }

extension ComparisonOperationLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    layer.inputs.count == 1
      ? try layer.combine(operation, layer.array(), alpha, type: .bool)
      : try layer.combine(operation, layer.array(0), layer.array(1), type: .bool)
  }
}

extension Equal: ComparisonOperationLayer { var operation: String { "equal" } }
extension NotEqual: ComparisonOperationLayer { var operation: String { "not_equal" } }
extension LessThan: ComparisonOperationLayer { var operation: String { "less" } }
extension LessEqual: ComparisonOperationLayer { var operation: String { "less_equal" } }
extension GreaterThan: ComparisonOperationLayer { var operation: String { "greater" } }
extension GreaterEqual: ComparisonOperationLayer { var operation: String { "greater_equal" } }

/// An operation on booleans.
protocol FlagOperationLayer: OneResultLayer { var operation: String { get } }

extension FlagOperationLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.flags(0)
    return layer.inputs.count == 1
      ? try layer.add(operation, x) : try layer.combine(operation, x, layer.flags(1))
  }
}

extension LogicalOr: FlagOperationLayer { var operation: String { "logical_or" } }
extension LogicalXor: FlagOperationLayer { var operation: String { "logical_xor" } }
extension LogicalAnd: FlagOperationLayer { var operation: String { "logical_and" } }
extension LogicalNot: FlagOperationLayer { var operation: String { "logical_not" } }

extension WhereBroadcastable: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let shape = layer.outputShapes[0]
    return try layer.select(
      layer.broadcast(layer.flags(0), to: shape), layer.broadcast(layer.array(1), to: shape),
      layer.broadcast(layer.array(2), to: shape))
  }
}
