import CoreMLModel
import LibC
import TensorCore

extension Activation: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    guard let function else { throw ModelError(.malformed, "no function is set") }
    switch function {
    case .prelu(let alpha):
      let slopes = try channelValues(alpha, input.channels, "alpha")
      return [
        ReferenceTensor(shape: shape) { p in
          let x = input[p]
          return x > 0 ? x : slopes[p.channel] * x
        }
      ]
    case .parametricSoftplus(let alpha, let beta):
      let factors = try channelValues(alpha, input.channels, "alpha")
      let slopes = try channelValues(beta, input.channels, "beta")
      return [
        ReferenceTensor(shape: shape) { p in
          factors[p.channel] * softplus(slopes[p.channel] * input[p])
        }
      ]
    default: return [input.mapped(scalarFunction(function))]
    }
  }

  /// One value per channel; a single value applies to all.
  private func channelValues(
    _ weights: Weights?, _ channels: Int, _ field: String
  ) throws -> [Double] {
    if let single = try? weights.values([1], field) {
      return [Double](repeating: Double(single[0]), count: channels)
    }
    return try weights.values([channels], field).map(Double.init)
  }
}

/// The function of one element; the identity for functions with weights.
func scalarFunction(_ function: Activation.Function) -> (Double) -> Double {
  switch function {
  case .linear(let alpha, let beta): { Double(alpha) * $0 + Double(beta) }
  case .relu: { $0 < 0 ? 0 : $0 }
  case .leakyReLU(let alpha): { $0 > 0 ? $0 : Double(alpha) * $0 }
  case .thresholdedReLU(let alpha): { $0 < Double(alpha) ? 0 : $0 }
  case .tanh: { tanh($0) }
  case .scaledTanh(let alpha, let beta): { Double(alpha) * tanh(Double(beta) * $0) }
  case .sigmoid: { 1 / (1 + exp(-$0)) }
  case .sigmoidHard(let alpha, let beta): { min(max(Double(alpha) * $0 + Double(beta), 0), 1) }
  case .elu(let alpha): { $0 > 0 ? $0 : Double(alpha) * expm1($0) }
  case .softsign: { $0 / (1 + abs($0)) }
  case .softplus: softplus
  case .prelu, .parametricSoftplus: { $0 }
  }
}

/// log(1 + eˣ), without overflow.
private func softplus(_ x: Double) -> Double { max(x, 0) + log1p(exp(-abs(x))) }
