import CoreML
import Foundation

/// x / (1 + exp(−β·x)), β being a parameter, or a weight for each channel.
#if canImport(ObjectiveC)
  @objc(Swish)
#endif
final class Swish: NSObject, MLCustomLayer {
  enum Mistake: Error {
    case wrongDataType(MLMultiArrayDataType)
    case wrongNumberOfWeights(Int)
  }

  private var beta: [Float] = [1]

  required init(parameters: [String: Any]) throws {
    if let value = (parameters["beta"] as? NSNumber)?.floatValue { beta = [value] }
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {
    guard weights.count <= 1 else { throw Mistake.wrongNumberOfWeights(weights.count) }
    guard let data = weights.first else { return }
    beta = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    inputShapes
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    for (input, output) in zip(inputs, outputs) {
      guard input.dataType == .float32 else { throw Mistake.wrongDataType(input.dataType) }
      let area = input.shape[3].intValue * input.shape[4].intValue
      let channels = input.shape[2].intValue
      for i in 0..<input.count {
        let factor = beta.count == 1 ? beta[0] : beta[i / area % channels]
        let x = input[i].floatValue
        output[i] = NSNumber(value: x / (1 + exp(-factor * x)))
      }
    }
  }
}
