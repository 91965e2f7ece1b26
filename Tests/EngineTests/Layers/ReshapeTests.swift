import CoreMLModel
import TensorCore
import TestSupport

extension Reshape: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases = [
      ([1, 1, 12, 4, 6], [[288, 1, 1], [1, 12, 24], [16, 9, 2], [2, 12, 3, 4]]),
      ([3, 2, 4, 2, 3], [[6, 4, 1], [24, 1, 1], [6, 2, 2, 3], [1, 72, 1, 1]]),
      ([6, 1, 10, 1, 1], [[1, 60, 1, 1], [2, 5, 1], [4, 15, 1, 1]]),
    ]
    return cases.flatMap { shape, targets in
      targets.flatMap { target in
        [Order.channelFirst, .channelLast].map { mode in
          var layer = Reshape()
          layer.targetShape = target
          layer.mode = mode
          return LayerTrial("\(shape) to \(target), \(mode)", layer, [shape])
        }
      }
    }
  }
}

extension Flatten: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 5, 1, 1], [1, 1, 12, 4, 6], [3, 2, 17, 2, 3]].flatMap { shape in
      [Order.channelFirst, .channelLast].map { mode in
        var layer = Flatten()
        layer.mode = mode
        return LayerTrial("\(shape), \(mode)", layer, [shape])
      }
    }
  }
}

extension Permute: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    var orders: [[Int]] = [[]]
    for a in 0..<4 {
      for b in 0..<4 where b != a {
        for c in 0..<4 where c != a && c != b { orders.append([a, b, c, 6 - a - b - c]) }
      }
    }
    return [[1, 1, 5, 3, 7], [2, 3, 17, 4, 1]].flatMap { shape in
      orders.map { order in
        var layer = Permute()
        layer.axis = order
        return LayerTrial("\(shape) by \(order)", layer, [shape])
      }
    }
  }
}
