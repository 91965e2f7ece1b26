import Accelerate
import CoreML
import Foundation

/// γ · (x − mean) / √(variance + ε) + β, mean and variance over groups of channels and all positions of
/// an image, γ and β one per channel.
struct ChannelNormalization {
  /// −1 for one group per channel.
  private let groups: Int
  private let epsilon: Float
  private let channels: Int?
  private let hasScale: Bool
  private let hasCenter: Bool
  private var gamma: [Float] = []
  private var beta: [Float] = []

  init(_ parameters: LayerParameters, groups: Int) throws {
    self.groups = groups
    epsilon = try parameters.float("epsilon", "eps") ?? 1e-5
    channels = try parameters.int("in_channels", in: 1...1 << 30)
    hasScale = try parameters.bool("scale") ?? true
    hasCenter = try parameters.bool("center") ?? true
  }

  mutating func setWeights(_ weights: [[Float]]) throws {
    var rest = weights[...]
    if hasScale { gamma = rest.popFirst() ?? [] }
    if hasCenter { beta = rest.popFirst() ?? [] }
    guard rest.isEmpty else { throw LayerFault.weights("\(weights.count)") }
  }

  mutating func check(_ sizes: [Int]) throws {
    let shape = PlaneShape(sizes)
    guard channels ?? shape.channels == shape.channels, groups == -1 || shape.channels % groups == 0
    else { throw LayerFault.shape([sizes]) }
    for values in [gamma, beta] where !values.isEmpty && values.count != shape.channels {
      throw LayerFault.weights("\(values.count) for \(shape.channels) channels")
    }
    kernelNumbers = [shape.channels, groups == -1 ? 1 : shape.channels / groups]
  }

  // MARK: What a Metal kernel takes

  /// The number of channels of an image and of a group.
  private(set) var kernelNumbers: [Int] = []
  var kernelEpsilon: [SIMD4<Float>] { [SIMD4(repeating: epsilon)] }
  var kernelWeights: [BroadcastWeight] {
    [BroadcastWeight(gamma.isEmpty ? [1] : gamma), BroadcastWeight(beta.isEmpty ? [0] : beta)]
  }

  func normalize(_ input: MLMultiArray, to output: MLMultiArray) throws {
    let (x, y) = (try input.floats(), try output.floats())
    let shape = PlaneShape(input.sizes)
    let groups = groups == -1 ? shape.channels : groups
    let channels = shape.channels / groups
    let length = vDSP_Length(channels * shape.area)
    for group in 0..<shape.images * groups {
      let (from, to) = (x + group * Int(length), y + group * Int(length))
      var mean: Float = 0
      var variance: Float = 0
      vDSP_meanv(from, 1, &mean, length)
      mean = -mean
      vDSP_vsadd(from, 1, &mean, to, 1, length)
      vDSP_measqv(to, 1, &variance, length)
      let factor = Float(1 / (Double(variance) + Double(epsilon)).squareRoot())
      for index in 0..<channels {
        let channel = group % groups * channels + index
        let plane = to + index * shape.area
        var scale = gamma.isEmpty ? factor : factor * gamma[channel]
        var center = beta.isEmpty ? 0 : beta[channel]
        vDSP_vsmsa(plane, 1, &scale, &center, plane, 1, vDSP_Length(shape.area))
      }
    }
  }
}
