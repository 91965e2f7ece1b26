import CoreMLModel
import Kernels

extension Unary: PointwiseLayer {
  var elementFunction: ScaledFunction {
    let guardTerm = effectiveEpsilon
    var function =
      switch type {
      case .sqrt: ScaledFunction(.sqrt)
      case .rsqrt: ScaledFunction(.rsqrt, alpha: guardTerm)
      case .inverse: ScaledFunction(.inverse, alpha: guardTerm)
      case .power: ScaledFunction(.power, alpha: alpha)
      case .exp: ScaledFunction(.exp)
      case .log: ScaledFunction(.log)
      case .abs: ScaledFunction(.abs)
      case .threshold: ScaledFunction(.threshold, alpha: alpha)
      }
    function.scale = effectiveScale
    function.shift = type == .log ? shift + epsilon : shift
    return function
  }
}
