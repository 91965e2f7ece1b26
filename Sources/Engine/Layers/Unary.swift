import CoreMLModel
import Kernels

extension Unary: ElementwiseLayer {
  var elementFunction: ElementFunction {
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
    function.scale = effectiveScale
    function.shift = shift
    return function
  }
}
