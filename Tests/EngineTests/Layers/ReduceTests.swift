import CoreMLModel
import TensorCore
import TestSupport

extension Reduce: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 1, 3, 4], [2, 3, 17, 2, 5]].flatMap { shape in
      Operation.allCases.flatMap { operation in
        Axis.allCases.filter { operation != .argmax || $0.rawValue > 1 }.map { axis in
          var layer = Reduce()
          layer.mode = operation
          layer.axis = axis
          layer.epsilon = random.pick([0, 0.5])
          let positive = operation == .logsum || operation == .prod
          return LayerTrial(
            "\(operation) over \(axis) of \(shape)", layer, [shape],
            range: positive ? 0.75...1.25 : -2...2)
        }
      }
    }
  }
}
