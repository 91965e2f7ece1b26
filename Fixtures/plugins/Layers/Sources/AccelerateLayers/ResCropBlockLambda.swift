import Accelerate
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
        shape[0], shape[1], shape[2], NSNumber(value: shape[3].intValue - 4),
        NSNumber(value: shape[4].intValue - 4),
      ]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    for (input, output) in zip(inputs, outputs) {
      let width = input.shape[4].intValue
      let area = input.shape[3].intValue * width
      let (rows, columns) = (output.shape[3].intValue, output.shape[4].intValue)
      for plane in 0..<input.count / area {
        let source = input.dataPointer.assumingMemoryBound(to: Float.self) + plane * area
        let target = output.dataPointer.assumingMemoryBound(to: Float.self) + plane * rows * columns
        vDSP_mmov(
          source + 2 * width + 2, target, vDSP_Length(columns), vDSP_Length(rows),
          vDSP_Length(width), vDSP_Length(columns))
      }
    }
  }
}
