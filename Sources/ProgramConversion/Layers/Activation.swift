import CoreMLModel
import TensorCore

extension Activation: OperationLayer {
  func operations(_ layer: LayerConversion) throws -> [Variable] {
    guard let function else { throw ModelError(.malformed, "no function is set") }
    func simple(_ operation: String, _ arguments: (String, Float)...) throws -> [Variable] {
      [try layer.add(operation, layer.number(), arguments.map { ($0.0, .number($0.1)) })]
    }
    switch function {
    case .linear(let alpha, let beta):
      return try simple("linear_activation", ("alpha", alpha), ("beta", beta))
    case .relu: return try simple("relu")
    case .leakyReLU(let alpha): return try simple("leaky_relu", ("alpha", alpha))
    case .thresholdedReLU(let alpha): return try simple("thresholded_relu", ("alpha", alpha))
    case .tanh: return try simple("tanh")
    case .scaledTanh(let alpha, let beta):
      return try simple("scaled_tanh", ("alpha", alpha), ("beta", beta))
    case .sigmoid: return try simple("sigmoid")
    case .sigmoidHard(let alpha, let beta):
      return try simple("sigmoid_hard", ("alpha", alpha), ("beta", beta))
    case .elu(let alpha): return try simple("elu", ("alpha", alpha))
    case .softsign: return try simple("softsign")
    case .softplus: return try simple("softplus")
    case .prelu(let alpha):
      let x = try layer.planes()
      let slopes = try perChannel(alpha, x.shape[1], "alpha", layer)
      return [try layer.add("prelu", x, [("alpha", .variable(slopes))])]
    case .parametricSoftplus(let alpha, let beta):
      let x = try layer.planes()
      let factors = try perChannel(alpha, x.shape[1], "alpha", layer)
      let slopes = try perChannel(beta, x.shape[1], "beta", layer)
      return [
        try layer.add(
          "softplus_parametric", x, [("alpha", .variable(factors)), ("beta", .variable(slopes))])
      ]
    }
  }

  /// One value per channel; a single value applies to all channels.
  private func perChannel(
    _ weights: Weights?, _ channels: Int, _ field: String, _ layer: LayerConversion
  ) throws -> Variable {
    if channels != 1, weights?.storedCount == 1 {
      let value = try layer.values(weights, [1], field)[0]
      return try layer.constant(
        [Float](repeating: value, count: channels), [channels], field)
    }
    return try layer.weight(weights, [channels], field)
  }
}

extension Unary: OneResultLayer {
  func operation(_ layer: LayerConversion) throws -> Variable {
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
