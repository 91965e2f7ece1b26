import CoreMLModel
import LibC
import TensorCore

extension Unary: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    _ = try outputShape(inputs)
    let factor = Double(effectiveScale)
    let offset = Double(shift)
    let stabiliser = Double(effectiveEpsilon)
    let parameter = Double(alpha)
    let output = inputs[0].mapped { x in
      let z = factor * x + offset
      return switch type {
      case .sqrt: z.squareRoot()
      case .rsqrt: 1 / (z + stabiliser).squareRoot()
      case .inverse: 1 / (z + stabiliser)
      case .power: pow(z, parameter)
      case .exp: exp(z)
      case .log: log(z)
      case .abs: abs(z)
      case .threshold: max(parameter, z)
      }
    }
    return [output]
  }
}
