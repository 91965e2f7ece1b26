import CoreMLModel
import LibC

/// A reference implementation that is a function of each element.
protocol ElementTwin: ReferenceFormula {
  func twin(_ x: Double) -> Double
}

extension ElementTwin {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    [inputs[0].mapped(twin)]
  }
}

extension Ceil: ElementTwin { func twin(_ x: Double) -> Double { x.rounded(.up) } }
extension Floor: ElementTwin { func twin(_ x: Double) -> Double { x.rounded(.down) } }
extension Sign: ElementTwin { func twin(_ x: Double) -> Double { x > 0 ? 1 : x < 0 ? -1 : x } }
extension Round: ElementTwin { func twin(_ x: Double) -> Double { x.rounded(.toNearestOrEven) } }
extension Exp2: ElementTwin { func twin(_ x: Double) -> Double { pow(2, x) } }
extension Sin: ElementTwin { func twin(_ x: Double) -> Double { sin(x) } }
extension Cos: ElementTwin { func twin(_ x: Double) -> Double { cos(x) } }
extension Tan: ElementTwin { func twin(_ x: Double) -> Double { tan(x) } }
extension Asin: ElementTwin { func twin(_ x: Double) -> Double { asin(x) } }
extension Acos: ElementTwin { func twin(_ x: Double) -> Double { acos(x) } }
extension Atan: ElementTwin { func twin(_ x: Double) -> Double { atan(x) } }
extension Sinh: ElementTwin { func twin(_ x: Double) -> Double { sinh(x) } }
extension Cosh: ElementTwin { func twin(_ x: Double) -> Double { cosh(x) } }
extension Tanh: ElementTwin { func twin(_ x: Double) -> Double { tanh(x) } }
extension Asinh: ElementTwin { func twin(_ x: Double) -> Double { asinh(x) } }
extension Acosh: ElementTwin { func twin(_ x: Double) -> Double { acosh(x) } }
extension Atanh: ElementTwin { func twin(_ x: Double) -> Double { atanh(x) } }
extension Erf: ElementTwin { func twin(_ x: Double) -> Double { erf(x) } }
extension LogicalNot: ElementTwin { func twin(_ x: Double) -> Double { x == 0 ? 1 : 0 } }

extension Clip: ElementTwin {
  func twin(_ x: Double) -> Double { Swift.min(Swift.max(x, Double(minVal)), Double(maxVal)) }
}

extension ClampedReLU: ElementTwin {
  func twin(_ x: Double) -> Double { Swift.min(Double(beta), x >= 0 ? x : Double(alpha) * x) }
}

extension Gelu: ElementTwin {
  func twin(_ x: Double) -> Double {
    switch mode {
    case .exact: 0.5 * x * (1 + erf(x / 2.0.squareRoot()))
    case .tanhApproximation:
      0.5 * x * (1 + tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
    case .sigmoidApproximation: x / (1 + exp(-1.702 * x))
    }
  }
}
