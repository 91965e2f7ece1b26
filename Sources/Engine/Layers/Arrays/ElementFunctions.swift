import CoreMLModel
import Kernels

/// A layer that applies a function to each element.
protocol PointwiseLayer: EngineLayer { var elementFunction: ScaledFunction { get } }

extension PointwiseLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let operation = ElementwiseOperation(function: elementFunction)
    return [layer.add(operation, layer.inputs, try layer.outputShape())]
  }
}

extension Clip: PointwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.clip, alpha: minVal, beta: maxVal) }
}

extension ClampedReLU: PointwiseLayer {
  var elementFunction: ScaledFunction {
    alpha == 0 && beta >= 0
      ? ScaledFunction(.clip, alpha: 0, beta: beta)
      : ScaledFunction(.clampedRelu, alpha: alpha, beta: beta)
  }
}

extension Gelu: PointwiseLayer {
  var elementFunction: ScaledFunction {
    switch mode {
    case .exact: ScaledFunction(.gelu)
    case .tanhApproximation: ScaledFunction(.tanhGelu)
    case .sigmoidApproximation: ScaledFunction(.swish, alpha: 1.702)
    }
  }
}

extension Ceil: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.ceil) } }

extension Floor: PointwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.floor) }
}

extension Sign: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.sign) } }

extension Round: PointwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.round) }
}

extension Exp2: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.exp2) } }
extension Sin: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.sin) } }
extension Cos: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.cos) } }
extension Tan: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.tan) } }
extension Asin: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.asin) } }
extension Acos: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.acos) } }
extension Atan: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.atan) } }
extension Sinh: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.sinh) } }
extension Cosh: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.cosh) } }
extension Tanh: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.tanh) } }

extension Asinh: PointwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.asinh) }
}

extension Acosh: PointwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.acosh) }
}

extension Atanh: PointwiseLayer {
  var elementFunction: ScaledFunction { ScaledFunction(.atanh) }
}

extension Erf: PointwiseLayer { var elementFunction: ScaledFunction { ScaledFunction(.erf) } }
