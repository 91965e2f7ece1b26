import CoreMLModel
import TensorCore
import TestSupport

extension Padding: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let kinds: [Kind] = [.constant(value: 0), .constant(value: -1.5), .reflection, .replication]
    return [[1, 1, 1, 4, 5], [2, 3, 17, 6, 5], [6, 5]].flatMap { shape in
      kinds.flatMap { kind in
        [(1, 1, 1, 1), (0, 3, 2, 0), (3, 2, 4, 1)].map { top, bottom, left, right in
          var layer = Padding()
          layer.kind = kind
          layer.paddingAmounts = BorderAmounts(
            top: top, bottom: bottom, left: left, right: right)
          return LayerTrial("\(kind) of \(shape), \((top, bottom, left, right))", layer, [shape])
        }
      }
    }
  }
}
