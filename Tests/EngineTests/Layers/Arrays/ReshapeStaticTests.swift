import CoreMLModel
import TensorCore
import TestSupport

extension ReshapeStatic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([12], [3, 4]), ([2, 3, 4], [6, -1]), ([2, 17, 3, 5], [2, 17, 15]),
      ([1, 17, 3, 5], [1, 1, 17, 3, 5]), ([1, 17, 1, 1], [1, 17]),
      ([2, 3, 4], [2, 1, 3, 1, 2, -1]),
    ]
    return cases.map { shape, target in
      var layer = ReshapeStatic()
      layer.targetShape = target
      return LayerTrial("\(shape) to \(target)", layer, [shape])
    }
  }
}

extension RankPreservingReshape: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [([2, 3, 4], [0, -1, 2]), ([2, 17, 3, 4], [-1, 0, 0, 2])]
    return cases.map { shape, target in
      var layer = RankPreservingReshape()
      layer.targetShape = target
      return LayerTrial("\(shape) to \(target)", layer, [shape])
    }
  }
}

extension ReshapeLike: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [LayerTrial("like", ReshapeLike(), [[2, 17, 6], [2, 17, 3, 2]])]
  }
}

extension FlattenTo2D: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [0, 1, 2, 3, 4, -1, -4].map { axis in
      var layer = FlattenTo2D()
      layer.axis = axis
      return LayerTrial("at \(axis)", layer, [[2, 17, 3, 5]])
    }
  }
}

extension ExpandDims: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([5], [0]), ([5], [-1]), ([2, 17, 3], [0, 2]), ([17, 3, 5], [0]), ([1, 17, 3, 5], [-3]),
    ]
    return cases.map { shape, axes in
      var layer = ExpandDims()
      layer.axes = axes
      return LayerTrial("\(shape) at \(axes)", layer, [shape])
    }
  }
}

extension Squeeze: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([2, 17, 1, 1], [2, 3]), ([1, 5, 1], []), ([1, 1], []), ([1, 17, 3, 5], [0]),
      ([3, 1, 5], [-2]),
    ]
    return cases.map { shape, axes in
      var layer = Squeeze()
      layer.axes = axes
      layer.squeezeAll = axes.isEmpty
      return LayerTrial("\(shape) at \(axes)", layer, [shape])
    }
  }
}

extension Transpose: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([5], [0]), ([3, 5], [1, 0]), ([2, 3, 5], [2, 0, 1]), ([1, 17, 3, 5], [0, 2, 3, 1]),
      ([2, 3, 5, 17], [0, 3, 1, 2]), ([2, 7, 3, 4], [0, 2, 1, 3]),
      ([2, 3, 2, 3, 2], [4, 1, 3, 0, 2]), ([2, 3, 2, 3, 2, 2], [0, 3, 1, 4, 2, 5]),
      ([1, 5, 1, 3], [2, 1, 0, 3]), ([1, 3, 5, 7], [1, 2, 0]), ([1, 1, 5, 7], [1, 0]),
    ]
    return cases.map { shape, axes in
      var layer = Transpose()
      layer.axes = axes
      return LayerTrial("\(shape) by \(axes)", layer, [shape])
    }
  }
}

extension ConcatND: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([[Int]], Int, Bool)] = [
      ([[3], [4]], 0, false), ([[2, 3], [2, 4], [2, 1]], 1, false),
      ([[2, 3], [1, 3]], -2, false),
      ([[1, 17, 3, 5], [1, 8, 3, 5]], 1, false), ([[1, 17, 3, 5], [1, 8, 3, 5]], -3, false),
      ([[2, 3, 4, 5], [2, 3, 4, 2]], 3, false), ([[2, 3, 4, 5], [2, 3, 1, 5]], 2, false),
      ([[1, 3, 4], [1, 3, 4]], 1, true), ([[2, 17, 2, 3], [2, 17, 2, 3]], 1, true),
    ]
    return cases.map { shapes, axis, interleave in
      var layer = ConcatND()
      layer.axis = axis
      layer.interleave = interleave
      return LayerTrial("\(shapes) along \(axis), interleave \(interleave)", layer, shapes)
    }
  }
}

extension Stack: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [0, 1, 2, 3, -1].map { axis in
      var layer = Stack()
      layer.axis = axis
      return LayerTrial("along \(axis)", layer, [[3, 4, 5], [3, 4, 5], [3, 4, 5]])
    }
  }
}

extension SplitND: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], Int, Int, [Int])] = [
      ([6], 0, 3, []), ([2, 6], -1, 2, []), ([1, 34, 3, 5], 1, 2, []),
      ([1, 17, 3, 5], -3, 0, [16, 1]),
      ([2, 3, 4, 5], 3, 0, [2, 3]), ([2, 3, 4, 5], 0, 2, []),
    ]
    return cases.map { shape, axis, parts, sizes in
      var layer = SplitND()
      layer.axis = axis
      layer.numSplits = parts
      layer.splitSizes = sizes
      return LayerTrial("\(shape) along \(axis)", layer, [shape])
    }
  }
}
