import CoreMLModel
import LibC
import TensorCore

extension BroadcastingLayer where Self: ReferenceLayer {
  /// A function of all inputs, from the first to the last.
  fileprivate func folded(
    _ inputs: [ReferenceTensor], _ function: (Double, Double) -> Double
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    return [
      ReferenceTensor.indexed(shape) { index in
        inputs.dropFirst().reduce(inputs[0].stretched(index)) {
          function($0, $1.stretched(index))
        }
      }
    ]
  }
}

extension ComparisonLayer where Self: ReferenceLayer {
  fileprivate func compared(
    _ inputs: [ReferenceTensor], _ condition: (Double, Double) -> Bool
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    return [
      ReferenceTensor.indexed(shape) { index in
        let second = inputs.count > 1 ? inputs[1].stretched(index) : Double(alpha)
        return condition(inputs[0].stretched(index), second) ? 1 : 0
      }
    ]
  }
}

extension AddBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { $0 + $1 }
  }
}

extension SubtractBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { $0 - $1 }
  }
}

extension MultiplyBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { $0 * $1 }
  }
}

extension DivideBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { $0 / $1 }
  }
}

extension FloorDivBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { ($0 / $1).rounded(.down) }
  }
}

extension ModBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { floorRemainder($0, $1) }
  }
}

extension PowBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { pow($0, $1) }
  }
}

extension MaxBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { Swift.max($0, $1) }
  }
}

extension MinBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { Swift.min($0, $1) }
  }
}

extension Equal: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try compared(inputs) { $0 == $1 }
  }
}

extension NotEqual: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try compared(inputs) { $0 != $1 }
  }
}

extension LessThan: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try compared(inputs) { $0 < $1 }
  }
}

extension LessEqual: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try compared(inputs) { $0 <= $1 }
  }
}

extension GreaterThan: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try compared(inputs) { $0 > $1 }
  }
}

extension GreaterEqual: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try compared(inputs) { $0 >= $1 }
  }
}

extension LogicalOr: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { $0 != 0 || $1 != 0 ? 1 : 0 }
  }
}

extension LogicalXor: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { ($0 != 0) != ($1 != 0) ? 1 : 0 }
  }
}

extension LogicalAnd: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try folded(inputs) { $0 != 0 && $1 != 0 ? 1 : 0 }
  }
}

extension LogicalNot: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].mapped { $0 == 0 ? 1 : 0 }]
  }
}

extension WhereBroadcastable: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    return [
      ReferenceTensor.indexed(shape) { index in
        inputs[inputs[0].stretched(index) != 0 ? 1 : 2].stretched(index)
      }
    ]
  }
}

/// a − b · ⌊a / b⌋, exactly.
private func floorRemainder(_ a: Double, _ b: Double) -> Double {
  let rest = fmod(a, b)
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest
}
