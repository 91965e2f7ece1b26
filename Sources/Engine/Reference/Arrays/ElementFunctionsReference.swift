import CoreMLModel
import LibC

/// A reference implementation that is a function of each element.
protocol ElementReference: ReferenceFormula { func reference(_ x: Double) -> Double }

extension ElementReference {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    [inputs[0].mapped(reference)]
  }
}

extension Ceil: ElementReference { func reference(_ x: Double) -> Double { x.rounded(.up) } }
extension Floor: ElementReference { func reference(_ x: Double) -> Double { x.rounded(.down) } }
extension Sign: ElementReference {
  func reference(_ x: Double) -> Double { x > 0 ? 1 : x < 0 ? -1 : x }
}
extension Round: ElementReference {
  func reference(_ x: Double) -> Double { x.rounded(.toNearestOrEven) }
}
extension Exp2: ElementReference { func reference(_ x: Double) -> Double { pow(2, x) } }
extension Sin: ElementReference { func reference(_ x: Double) -> Double { sin(x) } }
extension Cos: ElementReference { func reference(_ x: Double) -> Double { cos(x) } }
extension Tan: ElementReference { func reference(_ x: Double) -> Double { tan(x) } }
extension Asin: ElementReference { func reference(_ x: Double) -> Double { asin(x) } }
extension Acos: ElementReference { func reference(_ x: Double) -> Double { acos(x) } }
extension Atan: ElementReference { func reference(_ x: Double) -> Double { atan(x) } }
extension Sinh: ElementReference { func reference(_ x: Double) -> Double { sinh(x) } }
extension Cosh: ElementReference { func reference(_ x: Double) -> Double { cosh(x) } }
extension Tanh: ElementReference { func reference(_ x: Double) -> Double { tanh(x) } }
extension Asinh: ElementReference { func reference(_ x: Double) -> Double { asinh(x) } }
extension Acosh: ElementReference { func reference(_ x: Double) -> Double { acosh(x) } }
extension Atanh: ElementReference { func reference(_ x: Double) -> Double { atanh(x) } }
extension Erf: ElementReference { func reference(_ x: Double) -> Double { erf(x) } }
extension LogicalNot: ElementReference { func reference(_ x: Double) -> Double { x == 0 ? 1 : 0 } }

extension Clip: ElementReference {
  func reference(_ x: Double) -> Double { Swift.min(Swift.max(x, Double(minVal)), Double(maxVal)) }
}

extension ClampedReLU: ElementReference {
  func reference(_ x: Double) -> Double { Swift.min(Double(beta), x >= 0 ? x : Double(alpha) * x) }
}

extension Gelu: ElementReference {
  func reference(_ x: Double) -> Double {
    switch mode {
    case .exact: 0.5 * x * (1 + erf(x / 2.0.squareRoot()))
    case .tanhApproximation:
      0.5 * x * (1 + tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
    case .sigmoidApproximation: x / (1 + exp(-1.702 * x))
    }
  }
}
