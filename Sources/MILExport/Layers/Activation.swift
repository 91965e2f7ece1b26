import CoreMLModel
import TensorCore

extension Activation: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    guard let row = function?.row else { throw ModelError(.malformed, "no function is set") }
    let names = ["alpha", "beta"]
    if row.weights.isEmpty {
      let arguments = zip(names, row.numbers).map { ($0, Argument.number($1)) }
      return [try layer.add(row.operation, layer.number(), arguments)]
    }
    let x = try layer.planes()
    let arguments = try zip(names, row.weights).map { name, weights in
      (name, Argument.variable(try perChannel(weights, x.shape[1], name, layer)))
    }
    return [try layer.add(row.operation, x, arguments)]
  }

  /// One value per channel; a single value applies to all channels.
  private func perChannel(
    _ weights: Weights?, _ channels: Int, _ field: String, _ layer: LayerCall
  ) throws -> Variable {
    if channels != 1, weights?.storedCount == 1 {
      let value = try layer.values(weights, [1], field)[0]
      return try layer.constant([Float](repeating: value, count: channels), [channels], field)
    }
    return try layer.weight(weights, [channels], field)
  }
}

extension Unary: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    var z = try layer.number()
    if effectiveScale != 1 || shift != 0, type != .abs || shift != 0 || effectiveScale != 1 {
      z = try layer.add(
        "linear_activation", z, [("alpha", .number(effectiveScale)), ("beta", .number(shift))])
    }
    switch type {
    case .sqrt: return try layer.add("sqrt", z)
    case .rsqrt: return try layer.add("rsqrt", z, [("epsilon", .number(effectiveEpsilon))])
    case .inverse: return try layer.add("inverse", z, [("epsilon", .number(effectiveEpsilon))])
    case .power: return alpha == 1 ? z : try layer.combine("pow", z, alpha)
    case .exp: return try layer.add("exp", z)
    case .log: return try layer.add("log", z, [("epsilon", .number(epsilon))])
    case .abs: return try layer.add("abs", z)
    case .threshold: return try layer.add("threshold", z, [("alpha", .number(alpha))])
    }
  }
}
