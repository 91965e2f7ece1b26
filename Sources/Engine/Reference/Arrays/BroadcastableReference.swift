import CoreMLModel
import LibC

/// A reference implementation that is a function of the elements at one position, from the first
/// input to the last.
protocol PairReference: ReferenceFormula { func reference(_ a: Double, _ b: Double) -> Double }

extension PairReference {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in
      inputs.dropFirst().reduce(inputs[0].broadcast(index)) { reference($0, $1.broadcast(index)) }
    }
  }
}

extension AddBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { a + b }
}

extension SubtractBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { a - b }
}

extension MultiplyBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { a * b }
}

extension DivideBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { a / b }
}

extension FloorDivBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { (a / b).rounded(.down) }
}

extension ModBroadcastable: PairReference {
  /// a − b · ⌊a / b⌋, computed exactly.
  func reference(_ a: Double, _ b: Double) -> Double {
    let rest = fmod(a, b)
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest
  }
}

extension PowBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { pow(a, b) }
}
extension MaxBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { max(a, b) }
}
extension MinBroadcastable: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { min(a, b) }
}

extension LogicalOr: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { a != 0 || b != 0 ? 1 : 0 }
}

extension LogicalXor: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { (a != 0) != (b != 0) ? 1 : 0 }
}

extension LogicalAnd: PairReference {
  func reference(_ a: Double, _ b: Double) -> Double { a != 0 && b != 0 ? 1 : 0 }
}

/// The reference implementation of a comparison; with a single input, the second operand is
/// `alpha`.
protocol ConditionReference: ReferenceFormula, ComparisonLayer {
  func holds(_ a: Double, _ b: Double) -> Bool
}

extension ConditionReference {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in
      let second = inputs.count > 1 ? inputs[1].broadcast(index) : Double(alpha)
      return holds(inputs[0].broadcast(index), second) ? 1 : 0
    }
  }
}

extension Equal: ConditionReference { func holds(_ a: Double, _ b: Double) -> Bool { a == b } }
extension NotEqual: ConditionReference { func holds(_ a: Double, _ b: Double) -> Bool { a != b } }
extension LessThan: ConditionReference { func holds(_ a: Double, _ b: Double) -> Bool { a < b } }
extension LessEqual: ConditionReference { func holds(_ a: Double, _ b: Double) -> Bool { a <= b } }
extension GreaterThan: ConditionReference { func holds(_ a: Double, _ b: Double) -> Bool { a > b } }
extension GreaterEqual: ConditionReference {
  func holds(_ a: Double, _ b: Double) -> Bool { a >= b }
}

extension WhereBroadcastable: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in
      inputs[inputs[0].broadcast(index) != 0 ? 1 : 2].broadcast(index)
    }
  }
}
