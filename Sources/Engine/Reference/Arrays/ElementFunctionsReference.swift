import CoreMLModel
import LibC
import TensorCore

extension Ceil: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped { $0.rounded(.up) }]
  }
}

extension Floor: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped { $0.rounded(.down) }]
  }
}

extension Sign: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped { $0 > 0 ? 1 : $0 < 0 ? -1 : $0 }]
  }
}

extension Round: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped { $0.rounded(.toNearestOrEven) }]
  }
}

extension Exp2: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped { pow(2, $0) }]
  }
}

extension Sin: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(sin)]
  }
}

extension Cos: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(cos)]
  }
}

extension Tan: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(tan)]
  }
}

extension Asin: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(asin)]
  }
}

extension Acos: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(acos)]
  }
}

extension Atan: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(atan)]
  }
}

extension Sinh: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(sinh)]
  }
}

extension Cosh: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(cosh)]
  }
}

extension Tanh: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(tanh)]
  }
}

extension Asinh: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(asinh)]
  }
}

extension Acosh: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(acosh)]
  }
}

extension Atanh: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(atanh)]
  }
}

extension Erf: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped(erf)]
  }
}

extension Clip: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let (low, high) = (Double(minVal), Double(maxVal))
    return [inputs[0].mapped { Swift.min(Swift.max($0, low), high) }]
  }
}

extension ClampedReLU: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let (slope, bound) = (Double(alpha), Double(beta))
    return [inputs[0].mapped { Swift.min(bound, $0 >= 0 ? $0 : slope * $0) }]
  }
}

extension Gelu: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    switch mode {
    case .exact: return [inputs[0].mapped { 0.5 * $0 * (1 + erf($0 / 2.0.squareRoot())) }]
    case .tanhApproximation:
      let factor = (2 / Double.pi).squareRoot()
      return [inputs[0].mapped { 0.5 * $0 * (1 + tanh(factor * ($0 + 0.044715 * $0 * $0 * $0))) }]
    case .sigmoidApproximation: return [inputs[0].mapped { $0 / (1 + exp(-1.702 * $0)) }]
    }
  }
}
