import CoreMLModel
import LibC

/// A reference implementation that is a function of the elements at one position, from the first
/// input to the last.
protocol PairTwin: ReferenceFormula {
  func twin(_ a: Double, _ b: Double) -> Double
}

extension PairTwin {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in
      inputs.dropFirst().reduce(inputs[0].stretched(index)) { twin($0, $1.stretched(index)) }
    }
  }
}

extension AddBroadcastable: PairTwin { func twin(_ a: Double, _ b: Double) -> Double { a + b } }

extension SubtractBroadcastable: PairTwin {
  func twin(_ a: Double, _ b: Double) -> Double { a - b }
}

extension MultiplyBroadcastable: PairTwin {
  func twin(_ a: Double, _ b: Double) -> Double { a * b }
}

extension DivideBroadcastable: PairTwin { func twin(_ a: Double, _ b: Double) -> Double { a / b } }

extension FloorDivBroadcastable: PairTwin {
  func twin(_ a: Double, _ b: Double) -> Double { (a / b).rounded(.down) }
}

extension ModBroadcastable: PairTwin {
  /// a − b · ⌊a / b⌋, computed exactly.
  func twin(_ a: Double, _ b: Double) -> Double {
    let rest = fmod(a, b)
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest
  }
}

extension PowBroadcastable: PairTwin { func twin(_ a: Double, _ b: Double) -> Double { pow(a, b) } }
extension MaxBroadcastable: PairTwin { func twin(_ a: Double, _ b: Double) -> Double { max(a, b) } }
extension MinBroadcastable: PairTwin { func twin(_ a: Double, _ b: Double) -> Double { min(a, b) } }

extension LogicalOr: PairTwin {
  func twin(_ a: Double, _ b: Double) -> Double { a != 0 || b != 0 ? 1 : 0 }
}

extension LogicalXor: PairTwin {
  func twin(_ a: Double, _ b: Double) -> Double { (a != 0) != (b != 0) ? 1 : 0 }
}

extension LogicalAnd: PairTwin {
  func twin(_ a: Double, _ b: Double) -> Double { a != 0 && b != 0 ? 1 : 0 }
}

/// The reference implementation of a comparison; with a single input, the second operand is
/// `alpha`.
protocol ConditionTwin: ReferenceFormula, ComparisonLayer {
  func holds(_ a: Double, _ b: Double) -> Bool
}

extension ConditionTwin {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in
      let second = inputs.count > 1 ? inputs[1].stretched(index) : Double(alpha)
      return holds(inputs[0].stretched(index), second) ? 1 : 0
    }
  }
}

extension Equal: ConditionTwin { func holds(_ a: Double, _ b: Double) -> Bool { a == b } }
extension NotEqual: ConditionTwin { func holds(_ a: Double, _ b: Double) -> Bool { a != b } }
extension LessThan: ConditionTwin { func holds(_ a: Double, _ b: Double) -> Bool { a < b } }
extension LessEqual: ConditionTwin { func holds(_ a: Double, _ b: Double) -> Bool { a <= b } }
extension GreaterThan: ConditionTwin { func holds(_ a: Double, _ b: Double) -> Bool { a > b } }
extension GreaterEqual: ConditionTwin { func holds(_ a: Double, _ b: Double) -> Bool { a >= b } }

extension WhereBroadcastable: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in
      inputs[inputs[0].stretched(index) != 0 ? 1 : 2].stretched(index)
    }
  }
}
