import CoreMLModel
import TensorCore
import TestSupport

extension LoadConstantND: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[5], [2, 3], [1, 17, 3, 5], [2, 1, 2, 3, 2, 2]].map { shape in
      let layer = LoadConstantND(shape: shape, random.weights(shape.reduce(1, *)))
      return LayerTrial("\(shape)", layer, [])
    }
  }
}

extension FillStatic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[5], [2, 3, 4]].map { shape in
      var layer = FillStatic()
      layer.targetShape = shape
      layer.value = 1.5
      return LayerTrial("\(shape)", layer, [])
    }
  }
}

extension FillLike: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    var layer = FillLike()
    layer.value = -2
    return [[5], [2, 17, 3, 4]].map { LayerTrial("\($0)", layer, [$0]) }
  }
}

extension RangeStatic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [(Float(0), Float(7), Float(1)), (1, 2, 0.25), (5, -5, -3), (0.5, 3, 1)].map {
      start, end, step in
      var layer = RangeStatic()
      layer.startValue = start
      layer.endValue = end
      layer.stepSizeValue = step
      return LayerTrial("\(start) to \(end) by \(step)", layer, [])
    }
  }
}

extension GetShape: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[5], [2, 17, 3, 4]].map { LayerTrial("\($0)", GetShape(), [$0]) }
  }
}
