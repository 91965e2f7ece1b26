import Accelerate
import CoreML
import Foundation

/// x / (1 + exp(−β · x)); β is the parameter `beta`, or the only weight, one value or one per channel.
final class Swish: NSObject, MLCustomLayer {
  private static let halfPrecision: [Int: Set<Int>] = [:]
  private var beta: [Float]

  required init(parameters: [String: Any]) throws {
    beta = [try LayerParameters(parameters).float("beta") ?? 1]
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {
    let weights = try LayerWeights.floats(weights, 0...1, halfPrecision: Self.halfPrecision)
    if let first = weights.first, !first.isEmpty { beta = first }
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      let channels = PlaneShape(shapes[0]).channels
      guard beta.count == 1 || beta.count == channels else { throw LayerFault.weights("beta") }
      return shapes
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    let area = beta.count == 1 ? inputs[0].count : PlaneShape(inputs[0].sizes).area
    for plane in 0..<inputs[0].count / max(1, area) {
      let (from, to) = (x + plane * area, y + plane * area)
      var factor = -beta[plane % beta.count]
      var one: Float = 1
      var count = Int32(area)
      vDSP_vsmul(from, 1, &factor, to, 1, vDSP_Length(area))
      vvexpf(to, to, &count)
      vDSP_vsadd(to, 1, &one, to, 1, vDSP_Length(area))
      vDSP_vdiv(to, 1, from, 1, to, 1, vDSP_Length(area))
    }
  }
}
