import CoreMLModel
import Kernels

/// A layer that is a function of each element.
protocol ElementwiseLayer: EngineLayer {
  var elementFunction: ElementFunction { get }
}

extension ElementwiseLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let operation = ElementwiseOperation(function: elementFunction)
    return [layer.add(operation, layer.inputs, try layer.outputShape())]
  }
}

extension Clip: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.clip, alpha: minVal, beta: maxVal) }
}

extension ClampedReLU: ElementwiseLayer {
  var elementFunction: ElementFunction {
    alpha == 0 && beta >= 0
      ? ElementFunction(.clip, alpha: 0, beta: beta)
      : ElementFunction(.clampedRelu, alpha: alpha, beta: beta)
  }
}

extension Gelu: ElementwiseLayer {
  var elementFunction: ElementFunction {
    switch mode {
    case .exact: ElementFunction(.gelu)
    case .tanhApproximation: ElementFunction(.tanhGelu)
    case .sigmoidApproximation: ElementFunction(.swish, alpha: 1.702)
    }
  }
}

extension Ceil: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.ceil) }
}

extension Floor: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.floor) }
}

extension Sign: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.sign) }
}

extension Round: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.round) }
}

extension Exp2: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.exp2) }
}

extension Sin: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.sin) }
}

extension Cos: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.cos) }
}

extension Tan: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.tan) }
}

extension Asin: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.asin) }
}

extension Acos: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.acos) }
}

extension Atan: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.atan) }
}

extension Sinh: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.sinh) }
}

extension Cosh: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.cosh) }
}

extension Tanh: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.tanh) }
}

extension Asinh: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.asinh) }
}

extension Acosh: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.acosh) }
}

extension Atanh: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.atanh) }
}

extension Erf: ElementwiseLayer {
  var elementFunction: ElementFunction { ElementFunction(.erf) }
}
