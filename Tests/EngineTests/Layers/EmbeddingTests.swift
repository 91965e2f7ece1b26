import CoreMLModel
import TensorCore
import TestSupport

extension Embedding: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [(1, 1, 3, 5), (4, 2, 9, 16), (7, 1, 2, 1), (1, 6, 30, 33)].flatMap {
      steps, batch, size, outputs in
      [false, true].map { hasBias in
        var layer = Embedding()
        layer.inputDim = size
        layer.outputChannels = outputs
        // Keras stores the values of an index contiguously.
        layer.matrix = Weights(
          random.weights(size * outputs).floatValue.shaped([size, outputs]).transposed([1, 0]))
        if hasBias { layer.matrix = random.weights(size * outputs) }
        layer.hasBias = hasBias
        if hasBias { layer.bias = random.weights(outputs) }
        let indices = (0..<steps * batch).map { _ in Float(random.number(0...size - 1)) }
        return LayerTrial(
          "\(steps) × \(batch) of \(size) to \(outputs)", layer, [[steps, batch, 1, 1, 1]],
          values: [0: indices])
      }
    }
  }
}
