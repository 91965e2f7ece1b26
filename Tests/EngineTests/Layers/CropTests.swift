import CoreMLModel
import TensorCore
import TestSupport

extension Crop: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 3, 7, 9], [2, 3, 17, 6, 5]].flatMap { shape in
      var amounts = Crop()
      amounts.cropAmounts = BorderAmounts(top: 1, bottom: 2, left: 0, right: 3)
      var offset = Crop()
      offset.offset = [2, 1]
      var like = shape
      like[3] = 3
      like[4] = 4
      return [
        LayerTrial("\(shape), amounts", amounts, [shape]),
        LayerTrial("\(shape), none", Crop(), [shape]),
        LayerTrial("\(shape), offset", offset, [shape, like]),
      ]
    }
  }
}
