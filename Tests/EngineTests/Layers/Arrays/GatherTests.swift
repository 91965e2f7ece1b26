import CoreMLModel
import TensorCore
import TestSupport

extension SplitMix64 {
  /// Integers in −bound ..< bound.
  fileprivate mutating func places(_ count: Int, _ bound: Int, negative: Bool = true) -> [Float] {
    (0..<count).map { _ in Float(number((negative ? -bound : 0)...bound - 1)) }
  }
}

extension Gather: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int], Int)] = [
      ([7], [3], 0), ([3, 5], [4], 1), ([3, 5], [2, 2], 0), ([2, 17, 3, 4], [5], 1),
      ([2, 3, 4], [2, 3], -2),
    ]
    return cases.map { shape, places, axis in
      var layer = Gather()
      layer.axis = axis
      let length = shape[axis < 0 ? axis + shape.count : axis]
      return LayerTrial(
        "\(shape) along \(axis)", layer, [shape, places],
        values: [1: random.places(places.reduce(1, *), length)])
    }
  }
}

extension GatherND: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([7], [3, 1]), ([4, 5], [3, 2]), ([4, 5], [2]), ([4, 5], [2, 3, 1]), ([3, 4, 5], [2, 2, 2]),
    ]
    return cases.map { shape, places in
      LayerTrial(
        "\(shape) at \(places)", GatherND(), [shape, places],
        values: [1: random.places(places.reduce(1, *), 3, negative: false)])
    }
  }
}

extension GatherAlongAxis: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int], Int)] = [
      ([7], [3], 0), ([3, 5], [3, 2], 1), ([4, 5], [6, 5], -2), ([2, 17, 3, 4], [2, 5, 3, 4], 1),
    ]
    return cases.map { shape, places, axis in
      var layer = GatherAlongAxis()
      layer.axis = axis
      let length = shape[axis < 0 ? axis + shape.count : axis]
      return LayerTrial(
        "\(shape) along \(axis)", layer, [shape, places],
        values: [1: random.places(places.reduce(1, *), length)])
    }
  }
}

extension EmbeddingND: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[3, 1], [2, 5, 1], [2, 3, 4, 1]].map { shape in
      var layer = EmbeddingND()
      layer.vocabSize = 11
      layer.embeddingSize = 7
      layer.matrix = random.weights(77)
      layer.hasBias = shape.count == 3
      layer.bias = layer.hasBias ? random.weights(7) : nil
      return LayerTrial(
        "\(shape)", layer, [shape],
        values: [0: random.places(shape.reduce(1, *), 11, negative: false)])
    }
  }
}

extension OneHot: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], Int)] = [
      ([5], -1), ([2, 3], 0), ([2, 3], 1), ([2, 3], -1), ([2, 3, 4], 2),
    ]
    return cases.map { shape, axis in
      var layer = OneHot()
      layer.oneHotVectorSize = 6
      layer.axis = axis
      layer.onValue = 1.5
      layer.offValue = -0.5
      // Indices out of range are allowed.
      return LayerTrial(
        "\(shape) at \(axis)", layer, [shape], values: [0: random.places(shape.reduce(1, *), 8)])
    }
  }
}
