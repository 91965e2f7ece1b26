import Accelerate
import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// γ · x / √max(Σ x², ε), the sum along an axis; γ one value or one per element of the axis.
final class L2Normalization: NSObject, MLCustomLayer {
  private static let halfPrecision: [Int: Set<Int>] = [:]
  private let axis: Int?
  private var shape: [Int] = []
  private let epsilon: Double
  private var gamma: [Float] = []

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    axis = try values.int("axis", in: -8...7)
    epsilon = Double(try values.float("epsilon", "eps") ?? 1e-12)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {
    let weights = try LayerWeights.floats(weights, 0...1, halfPrecision: Self.halfPrecision)
    gamma = weights.first ?? []
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      guard let view = AxisShape(shapes[0], along: axis) else { throw LayerFault.parameter("axis") }
      guard gamma.count <= 1 || gamma.count == view.length else {
        throw LayerFault.weights("gamma")
      }
      shape = shapes[0]
      return shapes
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    guard let view = AxisShape(inputs[0].sizes, along: axis) else {
      throw LayerFault.parameter("axis")
    }
    let count = vDSP_Length(view.inner)
    var row = [Double](repeating: 0, count: view.inner)
    var factors = [Float](repeating: 0, count: view.inner)
    for slab in 0..<view.outer {
      let start = slab * view.length * view.inner
      var sums = [Double](repeating: 0, count: view.inner)
      if view.inner == 1 {
        var sum: Float = 0
        vDSP_svesq(x + start, 1, &sum, vDSP_Length(view.length))
        sums[0] = Double(sum)
      } else {
        for step in 0..<view.length {
          vDSP_vspdp(x + start + step * view.inner, 1, &row, 1, count)
          for (index, value) in row.enumerated() { sums[index] += value * value }
        }
      }
      for (index, sum) in sums.enumerated() {
        factors[index] = Float(1 / max(sum, epsilon).squareRoot())
      }
      for step in 0..<view.length {
        let (from, to) = (x + start + step * view.inner, y + start + step * view.inner)
        var scale = gamma.isEmpty ? 1 : gamma[gamma.count == 1 ? 0 : step]
        vDSP_vmul(from, 1, factors, 1, to, 1, count)
        vDSP_vsmul(to, 1, &scale, to, 1, count)
      }
    }
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("L2Normalization")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      guard let place = TextureAxis(shape, along: axis), place.axis < 3 || gamma.count < 2 else {
        throw LayerFault.shape([shape])
      }
      let ones = [Int](repeating: 1, count: place.axis)
      let weight =
        gamma.isEmpty ? BroadcastWeight([1]) : BroadcastWeight(gamma, shape: [gamma.count] + ones)
      try kernel.encode(
        commandBuffer, inputs, outputs,
        weights: [weight],
        tables: [[SIMD4(repeating: Float(epsilon))]],
        numbers: place.numbers)
    }
  #endif
}
