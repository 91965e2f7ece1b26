import CoreMLModel
import LibC

extension Unary: ElementReference {
  func reference(_ x: Double) -> Double {
    let z = Double(effectiveScale) * x + Double(shift)
    let stabilizer = Double(effectiveEpsilon)
    return switch type {
    case .sqrt: z.squareRoot()
    case .rsqrt: 1 / (z + stabilizer).squareRoot()
    case .inverse: 1 / (z + stabilizer)
    case .power: pow(z, Double(alpha))
    case .exp: exp(z)
    case .log: log(z + Double(epsilon))
    case .abs: abs(z)
    case .threshold: max(Double(alpha), z)
    }
  }
}
