import CoreMLModel
import TensorCore
import TestSupport

extension Batchnorm: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 1, 1, 1], [1, 1, 5, 7, 3], [2, 3, 16, 4, 4], [1, 2, 35, 3, 5]].flatMap { shape in
      [0, 1, 2].map { kind in
        var layer = Batchnorm()
        layer.channels = shape[2]
        layer.gamma = random.weights(shape[2])
        layer.beta = random.weights(shape[2])
        layer.epsilon = random.pick([0, 0.001])
        layer.computeMeanVar = kind > 0
        layer.instanceNormalization = kind > 1
        if kind == 0 || random.flag() {
          layer.mean = random.weights(shape[2])
          layer.variance = random.weights(shape[2], in: 0.1...2)
        }
        return LayerTrial("\(shape), kind \(kind), epsilon \(layer.epsilon)", layer, [shape])
      }
    }
  }
}
