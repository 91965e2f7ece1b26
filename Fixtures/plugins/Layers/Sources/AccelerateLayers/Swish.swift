import Accelerate
import CoreML
import Foundation

/// x / (1 + exp(−β·x)), β being a parameter, or a weight for each channel.
#if canImport(ObjectiveC)
  @objc(Swish)
#endif
final class Swish: NSObject, MLCustomLayer {
  private var beta: [Float] = [1]

  required init(parameters: [String: Any]) throws {
    // As apps wrote it: nil for a double that no float equals, were it not for the nearest float.
    if let value = parameters["beta"] as? Float { beta = [value] }
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {
    guard let data = weights.first else { return }
    beta = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    inputShapes
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    for (input, output) in zip(inputs, outputs) {
      let channels = beta.count
      let planes =
        beta.count == 1 ? 1 : input.shape[0].intValue * input.shape[1].intValue * channels
      let area = input.count / planes
      for plane in 0..<planes {
        let x = input.dataPointer.assumingMemoryBound(to: Float.self) + plane * area
        let y = output.dataPointer.assumingMemoryBound(to: Float.self) + plane * area
        var factor = -beta[plane % channels]
        var one: Float = 1
        var count = Int32(area)
        let length = vDSP_Length(area)
        vDSP_vsmul(x, 1, &factor, y, 1, length)
        vvexpf(y, y, &count)
        vDSP_vsadd(y, 1, &one, y, 1, length)
        vDSP_vdiv(y, 1, x, 1, y, 1, length)
      }
    }
  }
}
