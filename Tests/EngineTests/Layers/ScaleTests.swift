import CoreMLModel
import TensorCore
import TestSupport

private let shapes = [[1, 1, 5, 3, 7], [2, 3, 16, 4, 4], [1, 2, 19, 3, 5]]

/// `[1]`, `[C]`, `[1, H, W]` and `[C, H, W]`
private func constants(_ shape: [Int]) -> [[Int]] {
  [[1], [shape[2]], [1, shape[3], shape[4]], Array(shape[2...])]
}

extension Scale: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    shapes.flatMap { shape in
      constants(shape).flatMap { scale in
        ([nil] + constants(shape)).map { bias in
          var layer = Scale()
          layer.shapeScale = scale
          layer.scale = random.weights(scale.reduce(1, *))
          if let bias {
            layer.hasBias = true
            layer.shapeBias = bias
            layer.bias = random.weights(bias.reduce(1, *))
          }
          return LayerTrial("\(shape) by \(scale), \(bias ?? [])", layer, [shape])
        }
      }
    }
  }
}

extension Bias: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    shapes.flatMap { shape in
      constants(shape).map { bias in
        var layer = Bias()
        layer.shape = bias
        layer.bias = random.weights(bias.reduce(1, *))
        return LayerTrial("\(shape), \(bias)", layer, [shape])
      }
    }
  }
}

extension LoadConstant: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 1], [19, 3, 5]].map { shape in
      var layer = LoadConstant()
      layer.shape = shape
      layer.data = random.weights(shape.reduce(1, *))
      return LayerTrial("\(shape)", layer, [])
    }
  }
}
