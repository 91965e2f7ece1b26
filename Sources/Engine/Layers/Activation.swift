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
  ) throws -> ScaledFunction {
    func perChannel(_ weights: Weights?, _ field: String) throws -> ScaledFunction.Parameter {
      let values = try layer.perChannel(weights, channels, field)
      return values.count == 1 ? .scalar(values[0]) : .perChannel(values)
    }
    switch function {
    case .linear(let alpha, let beta): return ScaledFunction(.linear, alpha: alpha, beta: beta)
    case .relu: return ScaledFunction(.relu)
    case .leakyReLU(let alpha): return ScaledFunction(.leaky, alpha: alpha)
    case .thresholdedReLU(let alpha): return ScaledFunction(.thresholdedRelu, alpha: alpha)
    case .prelu(let alpha):
      return ScaledFunction(.leaky, alpha: try perChannel(alpha, "PReLU.alpha"), beta: .scalar(0))
    case .tanh: return ScaledFunction(.tanh)
    case .scaledTanh(let alpha, let beta):
      return ScaledFunction(.scaledTanh, alpha: alpha, beta: beta)
    case .sigmoid: return ScaledFunction(.sigmoid)
    case .sigmoidHard(let alpha, let beta):
      return ScaledFunction(.hardSigmoid, alpha: alpha, beta: beta)
    case .elu(let alpha): return ScaledFunction(.elu, alpha: alpha)
    case .softsign: return ScaledFunction(.softsign)
    case .softplus: return ScaledFunction(.softplus)
    case .parametricSoftplus(let alpha, let beta):
      return ScaledFunction(
        .parametricSoftplus, alpha: try perChannel(alpha, "parametricSoftplus.alpha"),
        beta: try perChannel(beta, "parametricSoftplus.beta"))
    case nil:
      throw ModelError(.malformed, "no function is set", field: "NonlinearityType")
    }
  }
}
