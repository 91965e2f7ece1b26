import CoreMLModel
import Kernels
import TensorCore

extension Unary: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let factor = effectiveScale
    let guardTerm = effectiveEpsilon
    var function =
      switch type {
      case .sqrt: ElementFunction(.sqrt)
      case .rsqrt: ElementFunction(.rsqrt, alpha: guardTerm)
      case .inverse: ElementFunction(.inverse, alpha: guardTerm)
      case .power: ElementFunction(.power, alpha: alpha)
      case .exp: ElementFunction(.exp)
      case .log: ElementFunction(.log)
      case .abs: ElementFunction(.abs)
      case .threshold: ElementFunction(.threshold, alpha: alpha)
      }
    function.scale = factor
    function.shift = shift
    let shape = try layer.outputShape()
    return [layer.add(ElementwiseOperation(function: function), layer.inputs, shape)]
  }
}
