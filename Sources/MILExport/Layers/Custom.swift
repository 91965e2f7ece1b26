import CoreMLModel
import CustomLayers
import Engine
import Formulas
import TensorCore

extension Custom: OneResultLayer {
  /// The operations of the layer's formula.
  func operation(_ layer: LayerCall) throws -> Variable {
    let implementation = try layer.options.customLayers.layerWithFormula(self)
    if let implementation = implementation as? any CustomLayerWithChannelGroups,
      try implementation.formula(forInputShapes: layer.inputShapes) == nil
    {
      return try layer.normalized(implementation.channelGroups)
    }
    guard let formula = try implementation.formula(forInputShapes: layer.inputShapes),
      formula.inputs.count == layer.inputs.count, layer.outputShapes.count == 1
    else {
      throw layer.unsupported(
        "ML Programs have no operations for class \(className) with these settings")
    }
    var operations = FormulaOperations(layer: layer, formula: formula)
    let result = try operations.array(operations.value(formula.expression))
    return try layer.broadcast(
      layer.builder.cast(result, to: layer.type), to: layer.outputShapes[0])
  }
}

extension LayerCall {
  /// The mean of a group is the mean of its channels' means.
  fileprivate func normalized(_ norm: ChannelGroups) throws -> Variable {
    let x = try planes()
    let (images, channels) = (x.shape[0], x.shape[1])
    let groups = norm.groups == -1 ? channels : norm.groups
    let size = channels / groups
    func groupMeans(_ x: Variable) throws -> Variable {
      let means = try reshape(reduce("reduce_mean", x, [2, 3]), to: [images, groups, size])
      let repeated = try broadcast(
        reduce("reduce_mean", means, [2]), to: [images, groups, size])
      return try reshape(repeated, to: [images, channels, 1, 1])
    }
    let centered = try combine("sub", x, groupMeans(x))
    let factor = try add(
      "rsqrt", groupMeans(add("square", centered)), [("epsilon", .number(norm.epsilon))])
    var result = try combine("mul", centered, factor)
    if !norm.gamma.isEmpty {
      result = try combine("mul", result, constant(norm.gamma, [1, channels, 1, 1], "gamma"))
    }
    if !norm.beta.isEmpty {
      result = try combine("add", result, constant(norm.beta, [1, channels, 1, 1], "beta"))
    }
    return result
  }
}

extension CustomLayerRegistry {
  /// The layer's implementation, if operations can express it.
  func layerWithFormula(_ custom: Custom) throws -> any CustomLayerWithFormula {
    var known: (any CustomLayerImplementation)?
    do { known = try implementation(of: custom) } catch let error as ModelError {
      // Only the app has the class.
      guard error.code == .unsupported else { throw error }
    }
    return try (known as? any CustomLayerWithFormula).orThrow(
      ModelError(
        .unsupported, "an ML Program has no custom layers, and this class has no formula",
        hint:
          "write an .mlmodel, which supports it, or give the layer a formula with \(setting: "customLayers")"
      ))
  }
}

/// The operations of a formula.
private struct FormulaOperations {
  enum Value {
    case number(Double)
    case variable(Variable)

    var shape: [Int] { if case .variable(let variable) = self { variable.shape } else { [] } }
  }

  let layer: LayerCall
  let formula: CustomLayerFormula
  /// Results computed so far.
  var known: [Expression: Value] = [:]

  mutating func value(_ expression: Expression) throws -> Value {
    if let value = known[expression] { return value }
    let value: Value
    switch expression.node {
    case .number(let number): value = .number(number)
    case .name(let name): value = .variable(try self.name(name))
    case .apply(let function, let operands):
      if function.row.operation == nil, let composed = try function.composed(operands) {
        return try self.value(composed)
      }
      value = try apply(function, operands.map { try self.value($0) })
    case .reduce(let reduction, let operand, let axes, let keepsAxes):
      let x = try number(self.value(operand))
      value = .variable(
        try layer.reduce(
          "reduce_\(reduction.rawValue)", x, Expression.axes(axes, rank: x.rank),
          keepDims: keepsAxes))
    case .slice(let operand, let items):
      value = .variable(try slice(number(self.value(operand)), items))
    }
    known[expression] = value
    return value
  }

  private func name(_ name: String) throws -> Variable {
    if let index = formula.inputs.firstIndex(of: name) { return try layer.array(index) }
    let array = try formula.weights[name].orThrow(
      ModelError(.malformed, "unknown name '\(name)'", field: "parameters.expression"))
    return try layer.constant(array.elements.map { Float($0) }, array.shape, name)
  }

  // MARK: - Values

  func array(_ value: Value) throws -> Variable {
    switch value {
    case .variable(let variable): variable
    case .number(let number): try layer.constant([Float(number)], [], "number")
    }
  }

  /// The value in the layer's compute type; a condition becomes 1 or 0.
  private func number(_ value: Value) throws -> Variable {
    try layer.builder.cast(array(value), to: layer.type)
  }

  /// The value as booleans: whether it is nonzero.
  private func flag(_ value: Value) throws -> Variable {
    let variable = try array(value)
    return variable.type == .bool
      ? variable : try layer.combine("not_equal", variable, 0, type: .bool)
  }

  private func argument(_ value: Value) throws -> Argument {
    if case .number(let number) = value { return .number(Float(number)) }
    return .variable(try number(value))
  }

  // MARK: - Functions

  private func combine(
    _ operation: String, _ operands: [Value], type: MILDataType? = nil
  ) throws -> Value {
    .variable(
      try layer.make(
        operation, [("x", argument(operands[0])), ("y", argument(operands[1]))], type,
        shape: ArrayShape.broadcast([operands[0].shape, operands[1].shape])))
  }

  private func unary(
    _ operation: String, _ operand: Value, _ arguments: [(String, Argument)] = []
  ) throws -> Value {
    .variable(try layer.add(operation, number(operand), arguments))
  }

  private func apply(_ function: ElementFunction, _ operands: [Value]) throws -> Value {
    let numbers = operands.compactMap { if case .number(let number) = $0 { number } else { nil } }
    if numbers.count == operands.count { return .number(function.value(numbers)) }
    let (x, operation) = (operands[0], function.row.operation ?? "")
    switch function {
    case .logicalAnd, .logicalOr:
      return .variable(try layer.combine(operation, flag(x), flag(operands[1])))
    case .logicalNot: return .variable(try layer.add(operation, flag(x)))
    case .negative: return try combine("mul", [x, .number(-1)])
    case .expm1: return try combine("sub", [unary("exp", x), .number(1)])
    case .gelu: return try unary(operation, x, [("mode", .text("EXACT"))])
    case .tanhGelu: return try unary(operation, x, [("mode", .text("TANH_APPROXIMATION"))])
    case .elu:
      if case .number(let alpha) = operands[1] {
        return try unary(operation, x, [("alpha", .number(Float(alpha)))])
      }
      let power = try combine("sub", [unary("exp", x), .number(1)])
      return try select(
        combine("greater", [x, .number(0)], type: .bool), x, combine("mul", [operands[1], power]))
    case .clip:
      if case .number(let low) = operands[1], case .number(let high) = operands[2] {
        return try unary(
          operation, x, [("alpha", .number(Float(low))), ("beta", .number(Float(high)))])
      }
      return try combine("minimum", [combine("maximum", [x, operands[1]]), operands[2]])
    case .choose: return try select(x, operands[1], operands[2])
    case _ where function.isComparison:
      return try combine(operation, operands, type: .bool)
    default:
      if operands.count > 1 { return try combine(operation, operands) }
      return try unary(
        operation, x, function.row.argument.map { [($0.name, .number($0.value))] } ?? [])
    }
  }

  private func select(_ condition: Value, _ a: Value, _ b: Value) throws -> Value {
    let shape = try ArrayShape.broadcast([condition.shape, a.shape, b.shape])
    return .variable(
      try layer.make(
        "select",
        [
          ("cond", .variable(layer.broadcast(flag(condition), to: shape))),
          ("a", .variable(layer.broadcast(number(a), to: shape))),
          ("b", .variable(layer.broadcast(number(b), to: shape))),
        ], shape: shape))
  }

  // MARK: - Parts

  private func slice(_ x: Variable, _ items: [Expression.SliceItem]) throws -> Variable {
    var (begin, end, stride): ([Int], [Int], [Int]) = ([], [], [])
    var (endMask, squeezeMask): ([Bool], [Bool]) = ([], [])
    var (cut, shape): ([Int], [Int]) = ([], [])
    let items = try Expression.items(items, rank: x.rank)
    for item in items {
      if item == .newAxis {
        shape.append(1)
        continue
      }
      let part = try Expression.part(item, length: x.shape[begin.count])
      let count = part.count ?? 1
      let last: Int = part.start + part.step * count
      begin.append(part.start)
      end.append(max(0, last))
      stride.append(part.step)
      // No index denotes the position before the first element.
      endMask.append(last < 0)
      if case .index = item {
        squeezeMask.append(true)
      } else {
        squeezeMask.append(false)
        cut.append(count)
        shape.append(count)
      }
    }
    var result = x
    if cut != x.shape || stride.contains(where: { $0 != 1 }) {
      result = try layer.add(
        "slice_by_index", x,
        [
          ("begin", .ints(begin)), ("end", .ints(end)), ("stride", .ints(stride)),
          ("begin_mask", .flags([Bool](repeating: false, count: begin.count))),
          ("end_mask", .flags(endMask)), ("squeeze_mask", .flags(squeezeMask)),
        ], shape: cut)
    }
    return try layer.reshape(result, to: shape)
  }
}
