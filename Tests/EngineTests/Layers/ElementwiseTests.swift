import CoreMLModel
import TensorCore
import TestSupport

/// Inputs with the same shape, and inputs that are broadcast along axes of length 1.
private let sets: [[[Int]]] = [
  [[1, 1, 5, 3, 7], [1, 1, 5, 3, 7]],
  [[2, 3, 16, 4, 4], [2, 3, 16, 4, 4], [2, 3, 16, 4, 4]],
  [[1, 2, 19, 3, 5], [1, 2, 19, 1, 1]],
  [[1, 2, 6, 3, 5], [1, 2, 1, 3, 5], [1, 2, 6, 3, 5]],
  [[1, 1, 6, 3, 5], [1, 1, 1, 1, 1]],
  // Several ranks, aligned at the last axis.
  [[2, 7, 5], [1]], [[1], [1, 2, 6, 3, 5]], [[4, 6, 3, 5], [1, 1]],
  [[2, 4, 6], [4, 6]], [[6], [3, 1, 6]], [[4, 1], [2, 1, 3, 4, 5], [5]], [[3], [4, 3]],
  [[2, 1, 3], [1, 4, 1]], [[2, 1, 1, 2, 1, 1], [1, 2, 3, 1, 1, 2]], [[3, 2, 2, 1, 1, 1], [2, 3]],
]

private func trials(_ layer: any LayerParameters) -> [LayerTrial] {
  sets.map { LayerTrial("\($0)", layer, $0) }
}

extension Add: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    var layer = Add()
    layer.alpha = 0.75
    return [LayerTrial("alpha", layer, [[1, 2, 19, 3, 5]])] + EngineTests.trials(Add())
  }
}

extension Multiply: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    var layer = Multiply()
    layer.alpha = 0.75
    return [LayerTrial("alpha", layer, [[1, 2, 19, 3, 5]])] + EngineTests.trials(Multiply())
  }
}

extension Average: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    EngineTests.trials(Average())
  }
}

extension Max: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] { EngineTests.trials(Max()) }
}

extension Min: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] { EngineTests.trials(Min()) }
}

extension DotProduct: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 1, 1, 1], [1, 1, 7, 1, 1], [2, 3, 33, 1, 1]].flatMap { shape in
      [false, true].map { cosine in
        var layer = DotProduct()
        layer.cosineSimilarity = cosine
        return LayerTrial("\(shape), cosine \(cosine)", layer, [shape, shape])
      }
    }
  }
}
