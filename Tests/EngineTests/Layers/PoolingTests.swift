import CoreMLModel
import TensorCore
import TestSupport

extension Pooling: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    (0..<60).map { index in
      var layer = Pooling()
      layer.type = PoolingType.allCases[index % 3]
      layer.kernelSize = random.pick([[], [2, 2], [3, 3], [2, 5], [5, 1]])
      layer.stride = random.pick([[], [1, 1], [2, 2], [2, 3]])
      layer.avgPoolExcludePadding = random.flag()
      layer.globalPooling = index % 10 == 9
      let kernel = layer.kernelSize.isEmpty ? [3, 3] : layer.kernelSize
      let half = kernel.map { ($0 - 1) / 2 }
      switch random.number(0...4) {
      case 0: layer.padding = .same(SamePadding(.bottomRightHeavy))
      case 1: layer.padding = .same(SamePadding(.topLeftHeavy))
      case 2: layer.padding = .valid(ValidPadding(half[0], 0, kernel[1] - 1, half[1]))
      case 3:
        var complete = ValidCompletePadding()
        complete.paddingAmounts = random.flag() ? half : []
        layer.padding = .includeLastPixel(complete)
      default: layer.padding = .valid(ValidPadding())
      }
      let shape = [
        random.pick([1, 2]), random.pick([1, 3]), random.pick([1, 3, 8, 16, 21, 32]),
        kernel[0] + random.number(0...9), kernel[1] + random.number(0...9),
      ]
      return LayerTrial(
        "\(index): \(layer.type) of \(shape), kernel \(kernel), stride \(layer.stride),"
          + " \(layer.padding as Any), excludes \(layer.avgPoolExcludePadding)", layer, [shape])
    }
      // 13 × 13 negative values, padded at the right and bottom.
      + [
        LayerTrial(
          "negative",
          {
            var layer = Pooling()
            layer.kernelSize = [2, 2]
            layer.padding = .same(SamePadding(.bottomRightHeavy))
            return layer
          }(), [[1, 1, 5, 13, 13]], range: -4 ... -1)
      ]
  }
}
