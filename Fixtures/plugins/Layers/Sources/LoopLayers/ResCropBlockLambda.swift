import CoreML
import Foundation

/// Takes two rows and columns from each border.
#if canImport(ObjectiveC)
  @objc(ResCropBlockLambda)
#endif
final class ResCropBlockLambda: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    inputShapes.map { shape in
      [
        shape[0], shape[1], shape[2], (shape[3].intValue - 4) as NSNumber,
        (shape[4].intValue - 4) as NSNumber,
      ]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    for (input, output) in zip(inputs, outputs) {
      let sizes = output.shape.map(\.intValue)
      for s in 0..<sizes[0] {
        for b in 0..<sizes[1] {
          for c in 0..<sizes[2] {
            for y in 0..<sizes[3] {
              for x in 0..<sizes[4] {
                output[[s, b, c, y, x] as [NSNumber]] =
                  input[[s, b, c, y + 2, x + 2].map { NSNumber(value: $0) }]
              }
            }
          }
        }
      }
    }
  }
}
