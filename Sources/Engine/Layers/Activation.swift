import CoreMLModel
import Kernels
import TensorCore

extension Activation: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let function = try elementFunction(layer, channels: shape.channels)
    return [layer.add(ElementwiseOperation(function: function), layer.inputs, shape)]
  }

  private func elementFunction(_ layer: LayerLowering, channels: Int) throws -> ScaledFunction {
    guard let row = function?.row, let kernel = UnaryFunction(rawValue: row.kernel) else {
      throw ModelError(.malformed, "no function is set", field: "NonlinearityType")
    }
    var parameters = row.numbers.map { ScaledFunction.Parameter.scalar($0) }
    for (name, weights) in zip(["alpha", "beta"], row.weights) {
      let values = try layer.perChannel(weights, channels, "\(row.field).\(name)")
      parameters.append(values.count == 1 ? .scalar(values[0]) : .perChannel(values))
    }
    parameters += [.scalar(0), .scalar(0)]
    return ScaledFunction(kernel, alpha: parameters[0], beta: parameters[1])
  }
}
