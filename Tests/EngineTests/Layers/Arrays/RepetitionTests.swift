import CoreMLModel
import TensorCore
import TestSupport

extension BroadcastToStatic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([1], [4]), ([3, 1], [3, 5]), ([5], [2, 3, 5]), ([1, 17, 1, 1], [1, 17, 3, 5]),
      ([2, 1, 4], [3, 2, 5, 4]), ([2, 3], [2, 3]),
    ]
    return cases.map { shape, target in
      var layer = BroadcastToStatic()
      layer.targetShape = target
      return LayerTrial("\(shape) to \(target)", layer, [shape])
    }
  }
}

extension BroadcastToLike: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [
      LayerTrial("planes", BroadcastToLike(), [[1, 17, 1, 1], [1, 17, 3, 5]]),
      LayerTrial("rows", BroadcastToLike(), [[3, 1], [2, 3, 4]]),
    ]
  }
}

extension Tile: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([3], [2]), ([2, 3], [2, 2]), ([2, 3, 4], [3]), ([1, 17, 2, 3], [1, 1, 3, 2]),
      ([2, 3, 4], [2, 1, 3]), ([2, 2, 2, 2, 2], [2, 1, 2, 1, 2]), ([2, 3], [1, 1]),
    ]
    return cases.map { shape, reps in
      var layer = Tile()
      layer.reps = reps
      return LayerTrial("\(shape), \(reps) times", layer, [shape])
    }
  }
}

extension ConstantPad: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int], Bool)] = [
      ([3], [1, 2], false), ([2, 3], [0, 1, 2, 0], false), ([2, 3, 4], [1, 0, 0, 2, 3, 1], false),
      ([1, 17, 3, 5], [0, 0, 0, 0, 1, 2, 3, 0], false),
      ([1, 3, 2, 4], [0, 0, 1, 1, 0, 0, 2, 0], false),
      ([1, 2, 3, 2, 3], [0, 0, 0, 0, 1, 1, 2, 0, 0, 2], false), ([2, 3], [0, 5, 7, 0], true),
      ([2, 3], [0, 0, 0, 0], false),
    ]
    return cases.flatMap { shape, amounts, isSize in
      [Float(0), 1.5].map { value in
        var layer = ConstantPad()
        layer.padAmounts = amounts
        layer.padToGivenOutputSizeMode = isSize
        layer.value = value
        return LayerTrial("\(shape) by \(amounts), \(value)", layer, [shape])
      }
    }
  }
}
