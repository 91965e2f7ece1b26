import CoreMLModel
import Formulas
import LibC
import TensorCore

extension Activation: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    guard let function else { throw ModelError(.malformed, "no function is set") }
    let values = try zip(function.row.weights, ["alpha", "beta"]).map {
      try channelValues($0, input.channels, $1)
    }
    guard let factors = values.first else { return [input.mapped(scalarFunction(function))] }
    let inner = scalarFunction(Activation.Function.parametric.function)
    return [
      ReferenceTensor(shape: shape) { p in
        let (x, factor) = (input[p], factors[p.channel])
        if values.count > 1 { return factor * inner(values[1][p.channel] * x) }
        return x > 0 ? x : factor * x
      }
    ]
  }

  /// One value per channel; a single value applies to all channels.
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
  case .leakyReLU(let alpha): { $0 > 0 ? $0 : Double(alpha) * $0 }
  case .thresholdedReLU(let alpha): { $0 < Double(alpha) ? 0 : $0 }
  case .scaledTanh(let alpha, let beta): { Double(alpha) * tanh(Double(beta) * $0) }
  case .sigmoidHard(let alpha, let beta): { min(max(Double(alpha) * $0 + Double(beta), 0), 1) }
  case .elu(let alpha): { $0 > 0 ? $0 : Double(alpha) * expm1($0) }
  default:
    if let row = ElementFunction(rawValue: function.row.kernel)?.row {
      { row.value([$0]) }
    } else {
      { $0 }
    }
  }
}
