import CoreMLModel
import TensorCore
import TestSupport

extension InnerProduct: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let shapes = [
      [1, 1, 1, 1, 1], [1, 1, 17, 1, 1], [1, 5, 64, 1, 1], [3, 2, 10, 1, 1], [1, 2, 3, 5, 7],
      [2, 1, 16, 3, 3], [1, 1, 300, 1, 1], [1, 9, 33, 1, 1],
    ]
    return shapes.flatMap { shape in
      [1, 10, 16, 47].map { outputs in
        var layer = InnerProduct()
        layer.inputChannels = shape[2] * shape[3] * shape[4]
        layer.outputChannels = outputs
        layer.matrix = random.weights(layer.inputChannels * outputs)
        layer.hasBias = random.flag()
        if layer.hasBias { layer.bias = random.weights(outputs) }
        return LayerTrial("\(shape) to \(outputs)", layer, [shape])
      }
    }
  }
}
