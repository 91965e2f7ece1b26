import CoreMLModel
import TensorCore
import TestSupport

private let shapes = [[1, 1, 3, 1, 1], [1, 1, 5, 7, 3], [2, 3, 16, 4, 4], [1, 2, 35, 3, 5]]

extension MeanVarianceNormalize: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    shapes.dropFirst().flatMap { shape in
      [(false, false), (false, true), (true, false), (true, true)].map { across, variance in
        var layer = MeanVarianceNormalize()
        layer.acrossChannels = across
        layer.normalizeVariance = variance
        layer.epsilon = random.pick([0, 0.01])
        return LayerTrial("\(shape), across \(across), variance \(variance)", layer, [shape])
      }
    }
  }
}

extension L2Normalize: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    shapes.map { shape in
      var layer = L2Normalize()
      layer.epsilon = random.pick([0, 0.01])
      return LayerTrial("\(shape), epsilon \(layer.epsilon)", layer, [shape])
    }
  }
}

extension Softmax: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    (shapes + [[1, 1, 1000, 1, 1]]).flatMap { shape in
      [-2...2, -300...300].map { LayerTrial("\(shape) in \($0)", Softmax(), [shape], range: $0) }
    }
  }
}

extension LRN: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    shapes.flatMap { shape in
      [1, 4, 5].map { size in
        var layer = LRN()
        layer.localSize = size
        layer.alpha = random.pick([1e-4, 0.5])
        layer.beta = random.pick([0.75, 0.5, 1.25])
        layer.k = random.pick([0, 2])
        return LayerTrial(
          "\(shape), size \(size), alpha \(layer.alpha), beta \(layer.beta), k \(layer.k)", layer,
          [shape])
      }
    }
  }
}
