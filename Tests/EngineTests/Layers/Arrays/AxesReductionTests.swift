import CoreMLModel
import TensorCore
import TestSupport

extension AxesReductionLayer where Self: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([7], [0]), ([3, 5], [1]), ([3, 5], [-2]), ([5, 3, 70], [1]), ([2, 3, 4, 5], [2, 3]),
      ([2, 17, 4, 5], [1]), ([2, 3, 4, 5], [0, 2]), ([2, 3, 1, 5], [1, -1]), ([4, 3, 2], []),
      ([2, 3, 2, 3, 2], [0, 4]), ([1, 5, 3, 9], [-3]), ([1, 1], [0]),
    ]
    return cases.flatMap { shape, axes in
      [false, true].map { keeps in
        var layer = Self()
        layer.axes = axes
        layer.keepDims = keeps
        layer.reduceAll = axes.isEmpty && keeps
        let isLog = Self.self == ReduceLogSum.self
        return LayerTrial(
          "\(shape) along \(axes), keepDims \(keeps)", layer, [shape],
          range: isLog ? 0.25...2 : -2...2)
      }
    }
  }
}

extension SoftmaxND: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[7], [3, 5], [4, 3, 5], [1, 17, 3, 7], [2, 3, 2, 4, 5], [2, 2, 2, 2, 2, 3]].flatMap { shape in
      (-1..<shape.count).map { axis in
        var layer = SoftmaxND()
        layer.axis = axis
        return LayerTrial("\(shape) along \(axis)", layer, [shape], range: -5...5)
      }
    }
  }
}

extension LayerNormalization: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [([7], 1), ([3, 17], 1), ([2, 3, 33], 1), ([2, 3, 4, 5], 3), ([2, 3, 4, 5], 1)].map {
      (shape: [Int], count: Int) in
      var layer = LayerNormalization()
      layer.normalizedShape = Array(shape.suffix(count))
      let size = layer.normalizedShape.reduce(1, *)
      layer.eps = random.pick([1e-3, 1e-5])
      layer.gamma = random.weights(size)
      layer.beta = random.weights(size)
      return LayerTrial("\(shape), last \(count)", layer, [shape])
    }
  }
}

extension BatchedMatMul: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let pairs: [([Int], [Int], Bool, Bool)] = [
      ([5], [5], false, false), ([5], [5, 3], false, false), ([4, 5], [5], false, false),
      ([2, 4, 5], [5], false, false), ([7], [3, 2, 7, 4], false, false),
      ([4, 5], [5, 3], false, false), ([5, 4], [5, 3], true, false),
      ([4, 5], [3, 5], false, true),
      ([2, 3, 17, 8], [2, 3, 17, 8], false, true), ([2, 3, 17, 9], [1, 3, 9, 33], false, false),
      ([3, 1, 2, 5], [4, 6, 5], false, true), ([2, 60, 7], [2, 7, 50], false, false),
      ([2, 3, 5, 4], [5, 3], true, false), ([100, 40], [40, 1100], false, false),
      ([1, 2, 3, 4, 5], [2, 1, 1, 5, 4], false, false),
    ]
    var trials = pairs.map { a, b, transposeA, transposeB in
      var layer = BatchedMatMul()
      layer.transposeA = transposeA
      layer.transposeB = transposeB
      return LayerTrial(
        "\(a)\(transposeA ? "ᵀ" : "") · \(b)\(transposeB ? "ᵀ" : "")", layer, [a, b])
    }
    for (shape, columns) in [
      ([5], 3), ([1, 9], 17), ([7, 5], 4), ([2, 3, 16], 33), ([1, 2, 55, 8], 5), ([5, 48], 32),
      ([2, 31, 130], 16),
    ] {
      var layer = BatchedMatMul()
      layer.weightMatrixFirstDimension = shape[shape.count - 1]
      layer.weightMatrixSecondDimension = columns
      layer.matrix = random.weights(columns * shape[shape.count - 1])
      layer.hasBias = columns != 4
      layer.bias = layer.hasBias ? random.weights(columns) : nil
      trials.append(LayerTrial("\(shape) · weights of \(columns) columns", layer, [shape]))
    }
    return trials
  }
}

extension ReduceL1: TestedLayer {}
extension ReduceL2: TestedLayer {}
extension ReduceMax: TestedLayer {}
extension ReduceMin: TestedLayer {}
extension ReduceSum: TestedLayer {}
extension ReduceProd: TestedLayer {}
extension ReduceMean: TestedLayer {}
extension ReduceLogSum: TestedLayer {}
extension ReduceSumSquare: TestedLayer {}
extension ReduceLogSumExp: TestedLayer {}
