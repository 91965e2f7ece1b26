import CoreMLModel
import Kernels
import TensorCore

extension Activation: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let function = try elementFunction(layer, channels: shape.channels)
    return [layer.add(ElementwiseOperation(function: function), layer.inputs, shape)]
  }

  private func elementFunction(
    _ layer: LayerLowering, channels: Int
  ) throws -> ElementFunction {
    func perChannel(_ weights: Weights?, _ field: String) throws -> ElementFunction.Parameter {
      let values = try layer.perChannel(weights, channels, field)
      return values.count == 1 ? .scalar(values[0]) : .perChannel(values)
    }
    switch function {
    case .linear(let alpha, let beta): return ElementFunction(.linear, alpha: alpha, beta: beta)
    case .relu: return ElementFunction(.relu)
    case .leakyReLU(let alpha): return ElementFunction(.leaky, alpha: alpha)
    case .thresholdedReLU(let alpha): return ElementFunction(.thresholdedRelu, alpha: alpha)
    case .prelu(let alpha):
      return ElementFunction(.leaky, alpha: try perChannel(alpha, "PReLU.alpha"), beta: .scalar(0))
    case .tanh: return ElementFunction(.tanh)
    case .scaledTanh(let alpha, let beta):
      return ElementFunction(.scaledTanh, alpha: alpha, beta: beta)
    case .sigmoid: return ElementFunction(.sigmoid)
    case .sigmoidHard(let alpha, let beta):
      return ElementFunction(.hardSigmoid, alpha: alpha, beta: beta)
    case .elu(let alpha): return ElementFunction(.elu, alpha: alpha)
    case .softsign: return ElementFunction(.softsign)
    case .softplus: return ElementFunction(.softplus)
    case .parametricSoftplus(let alpha, let beta):
      return ElementFunction(
        .parametricSoftplus, alpha: try perChannel(alpha, "parametricSoftplus.alpha"),
        beta: try perChannel(beta, "parametricSoftplus.beta"))
    case nil:
      throw ModelError(.malformed, "no function is set", field: "NonlinearityType")
    }
  }
}
