import CoreMLModel
import TensorCore
import TestSupport

extension Unary: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 5, 3, 7], [2, 3, 17, 2, 2]].flatMap { shape in
      Operation.allCases.flatMap { operation in
        [(Float(0), Float(0)), (2, 0.25)].map { scale, shift in
          var layer = Unary()
          layer.type = operation
          layer.alpha = operation == .power ? random.pick([2, 1.5, -0.5]) : 0.75
          layer.epsilon = random.pick([0, 0.5])
          layer.scale = scale
          layer.shift = shift
          let signed = [.exp, .abs, .threshold].contains(operation)
          return LayerTrial(
            "\(operation) of \(shape), scale \(scale), alpha \(layer.alpha)", layer, [shape],
            range: signed ? -3...3 : 0.125...3)
        }
      }
    }
  }
}
