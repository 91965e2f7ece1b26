import CoreMLModel
import TensorCore
import TestSupport

/// Shapes, each with an axis.
private let lines: [([Int], Int)] = [
  ([7], 0), ([3, 5], 1), ([3, 5], -2), ([2, 17, 3, 4], 1), ([2, 3, 4, 5], -1), ([4, 1], 1),
]

extension ArgMax: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    lines.flatMap { shape, axis in
      [false, true].map { removes in
        var layer = ArgMax()
        layer.axis = axis
        layer.removeDim = removes
        return LayerTrial(
          "\(shape) along \(axis), removes \(removes)", layer, [shape], range: -2...1)
      }
    }
  }
}

extension ArgMin: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    lines.flatMap { shape, axis in
      [false, true].map { removes in
        var layer = ArgMin()
        layer.axis = axis
        layer.removeDim = removes
        return LayerTrial("\(shape) along \(axis), removes \(removes)", layer, [shape])
      }
    }
  }
}

extension TopK: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    lines.dropLast().flatMap { shape, axis in
      [false, true].map { bottom in
        var layer = TopK()
        layer.axis = axis
        layer.count = 3
        layer.useBottomK = bottom
        return LayerTrial("\(shape) along \(axis), bottom \(bottom)", layer, [shape])
      }
    }
  }
}

extension ArgSort: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    lines.map { shape, axis in
      var layer = ArgSort()
      layer.axis = axis
      layer.descending = axis == 1
      let values = random.values(shape.reduce(1, *), in: -3...3).map { $0.rounded() }
      return LayerTrial("\(shape) along \(axis)", layer, [shape], values: [0: values])
    }
  }
}

extension CumSum: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    lines.flatMap { shape, axis in
      [(false, false), (true, false), (false, true), (true, true)].map { excludes, reverses in
        var layer = CumSum()
        layer.axis = axis
        layer.excludeFinalSum = excludes
        layer.reverse = reverses
        return LayerTrial(
          "\(shape) along \(axis), excludes \(excludes), reverses \(reverses)", layer, [shape])
      }
    }
  }
}

extension MatrixBandPart: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [(0, 0), (1, 2), (-1, 1), (2, -1), (-1, -1)].flatMap { lower, upper in
      [[5, 5], [2, 3, 7]].map { shape in
        var layer = MatrixBandPart()
        layer.numLower = lower
        layer.numUpper = upper
        return LayerTrial("\(shape): \(lower), \(upper)", layer, [shape])
      }
    }
  }
}

extension LowerTriangular: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [-9, -1, 0, 2, 9].map { k in
      var layer = LowerTriangular()
      layer.k = k
      return LayerTrial("\(k)", layer, [[2, 17, 4, 6]])
    }
  }
}

extension UpperTriangular: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [-9, -1, 0, 2, 9].map { k in
      var layer = UpperTriangular()
      layer.k = k
      return LayerTrial("\(k)", layer, [[2, 4, 6]])
    }
  }
}
