import CoreMLModel
import TensorCore
import TestSupport

extension SliceStatic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    struct Case {
      var shape: [Int]
      var begins: [Int?]
      var ends: [Int?]
      var strides: [Int]
      var squeezed: Set<Int> = []
    }
    let cases = [
      Case(shape: [7], begins: [1], ends: [-1], strides: [2]),
      Case(shape: [7], begins: [nil], ends: [nil], strides: [-3]),
      Case(shape: [3, 5], begins: [nil, -2], ends: [2, nil], strides: [1, 1]),
      Case(shape: [3, 5], begins: [-1, 0], ends: [nil, 3], strides: [1, 1], squeezed: [0]),
      Case(shape: [4, 5], begins: [2, 3], ends: [nil, nil], strides: [1, 1], squeezed: [0, 1]),
      Case(
        shape: [1, 17, 5, 7], begins: [nil, nil, 1, 6], ends: [nil, nil, -1, nil],
        strides: [1, 1, 2, -2]),
      Case(
        shape: [2, 17, 5, 3], begins: [1, 2, nil, nil], ends: [nil, 12, nil, 2],
        strides: [1, 3, 1, 1]),
      Case(
        shape: [2, 17, 5, 3], begins: [nil, nil, 2, nil], ends: [nil, nil, nil, nil],
        strides: [1, 1, 1, 1], squeezed: [2]),
      Case(
        shape: [2, 2, 3, 4, 5], begins: [nil, -1, nil, 1, nil], ends: [nil, nil, -1, 100, nil],
        strides: [-1, 1, 1, 2, 4]),
    ]
    return cases.map { example in
      var layer = SliceStatic()
      layer.beginIds = example.begins.map { $0 ?? 3 }
      layer.beginMasks = example.begins.map { $0 == nil }
      layer.endIds = example.ends.map { $0 ?? 1 }
      layer.endMasks = example.ends.map { $0 == nil }
      layer.strides = example.strides
      if !example.squeezed.isEmpty {
        layer.squeezeMasks = example.shape.indices.map(example.squeezed.contains)
      }
      return LayerTrial("\(example)", layer, [example.shape])
    }
  }
}

extension Reverse: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Bool])] = [
      ([5], [true]), ([3, 4], [false, true]), ([2, 17, 3, 4], [false, false, true, true]),
      ([2, 17, 3, 4], [true, true, false, false]), ([2, 3], [false, false]),
    ]
    return cases.map { shape, reverses in
      var layer = Reverse()
      layer.reverseDim = reverses
      return LayerTrial("\(shape), \(reverses)", layer, [shape])
    }
  }
}

extension SlidingWindows: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], Int, Int, Int)] = [
      ([7], 0, 3, 2), ([2, 9, 4], 1, 4, 1), ([1, 17, 3, 8], -1, 2, 3), ([1, 5, 6, 2], 2, 6, 1),
    ]
    return cases.map { shape, axis, size, step in
      var layer = SlidingWindows()
      layer.axis = axis
      layer.windowSize = size
      layer.step = step
      return LayerTrial("\(shape) along \(axis): \(size) every \(step)", layer, [shape])
    }
  }
}
