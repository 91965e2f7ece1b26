import CoreMLModel
import Kernels

/// A layer that applies a function to each element.
protocol ElementwiseLayer: EngineLayer {
  var elementFunction: ScaledFunction { get }
}

extension ElementwiseLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let operation = ElementwiseOperation(function: elementFunction)
    return [layer.add(operation, layer.inputs, try layer.outputShape())]
  }
}

extension Clip: ElementwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.clip, alpha: minVal, beta: maxVal) }
}

extension ClampedReLU: ElementwiseLayer {
  var elementFunction: ScaledFunction {
    alpha == 0 && beta >= 0
      ? ScaledFunction(.clip, alpha: 0, beta: beta)
      : ScaledFunction(.clampedRelu, alpha: alpha, beta: beta)
  }
}

extension Gelu: ElementwiseLayer {
  var elementFunction: ScaledFunction {
    switch mode {
    case .exact: ScaledFunction(.gelu)
    case .tanhApproximation: ScaledFunction(.tanhGelu)
    case .sigmoidApproximation: ScaledFunction(.swish, alpha: 1.702)
    }
  }
}

extension Ceil: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.ceil) } }

extension Floor: ElementwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.floor) }
}

extension Sign: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.sign) } }

extension Round: ElementwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.round) }
}

extension Exp2: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.exp2) } }
extension Sin: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.sin) } }
extension Cos: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.cos) } }
extension Tan: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.tan) } }
extension Asin: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.asin) } }
extension Acos: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.acos) } }
extension Atan: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.atan) } }
extension Sinh: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.sinh) } }
extension Cosh: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.cosh) } }
extension Tanh: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.tanh) } }

extension Asinh: ElementwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.asinh) }
}

extension Acosh: ElementwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.acosh) }
}

extension Atanh: ElementwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.atanh) }
}

extension Erf: ElementwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.erf) } }
