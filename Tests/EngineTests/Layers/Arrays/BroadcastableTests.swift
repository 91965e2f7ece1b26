import CoreMLModel
import TensorCore
import TestSupport

extension BroadcastingLayer where Self: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let pairs: [[[Int]]] = [
      [[7], [7]], [[5], [1]], [[3, 1], [4]], [[2, 5], [1, 5]], [[3, 5, 7], [5, 1]],
      [[1, 17, 3, 5], [1, 17, 1, 1]], [[2, 17, 3, 5], [5]], [[2, 3, 4, 5], [3, 1, 5]],
      [[2, 1, 3, 1, 5], [2, 2, 1, 4, 1]], [[2, 2, 2, 1, 2, 3], [2, 1, 2, 3]],
      [[1, 3, 33, 7], [1, 3, 33, 7]], [[3, 9000], [3, 1]],
    ]
    let shapes = pairs.map { pair in
      Self.inputCount.contains(2)
        ? pair : Self.inputCount.contains(1) ? [pair[0]] : [pair[1]] + pair
    }
    let more =
      Self.inputCount.contains(3)
      ? [[[2, 3], [3], [4, 1, 1]], [[2, 3], [2, 3], [2, 3]]] : []
    return (shapes + more).map { shape in
      var trial = LayerTrial("\(shape)", Self(), shape)
      // Integers, so that some are equal; a power needs a positive base.
      for (index, sizes) in shape.enumerated() {
        let count = sizes.reduce(1, *)
        if Self.self == PowBroadcastable.self {
          trial.values[index] = random.values(count, in: index == 0 ? 0.25...2 : -2...2)
        } else if Self.inputCount != 2...2 || Self.self is any ComparisonLayer.Type {
          trial.values[index] = random.values(count, in: -3...3).map { $0.rounded() }
        }
      }
      return trial
    }
  }
}

extension ComparisonLayer where Self: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let pairs: [[[Int]]] = [
      [[7], [7]], [[3, 1], [4]], [[2, 17, 3, 5], [17, 1, 1]], [[2, 3, 4]],
    ]
    return pairs.map { shapes in
      var layer = Self()
      layer.alpha = 1
      var trial = LayerTrial("\(shapes)", layer, shapes)
      for (index, shape) in shapes.enumerated() {
        trial.values[index] = random.values(shape.reduce(1, *), in: -2...2).map { $0.rounded() }
      }
      return trial
    }
  }
}

extension AddBroadcastable: TestedLayer {}
extension SubtractBroadcastable: TestedLayer {}
extension MultiplyBroadcastable: TestedLayer {}
extension DivideBroadcastable: TestedLayer {}
extension FloorDivBroadcastable: TestedLayer {}
extension ModBroadcastable: TestedLayer {}
extension PowBroadcastable: TestedLayer {}
extension MaxBroadcastable: TestedLayer {}
extension MinBroadcastable: TestedLayer {}
extension Equal: TestedLayer {}
extension NotEqual: TestedLayer {}
extension LessThan: TestedLayer {}
extension LessEqual: TestedLayer {}
extension GreaterThan: TestedLayer {}
extension GreaterEqual: TestedLayer {}
extension LogicalOr: TestedLayer {}
extension LogicalXor: TestedLayer {}
extension LogicalNot: TestedLayer {}
extension LogicalAnd: TestedLayer {}
extension WhereBroadcastable: TestedLayer {}
