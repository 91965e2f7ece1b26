import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import ModelTransforms

/// Inputs that equal the mean everywhere produce the same outputs as before, whatever the change of
/// the weights: c′ + Σ W′ E[x] = c + Σ W E[x].
@Suite struct BiasCorrectionTests {
  private func random(_ count: Int, seed: UInt64) -> [Float] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in Float.random(in: -1...1, using: &generator) }
  }

  private func compressed(
    _ parameters: any LayerParameters, mean: [Double], bits: Int = 2
  ) throws -> any LayerParameters {
    var rules = CompressionRules(.codes(bits: bits, .linear))
    rules.channelMeans = ["c": mean]
    let layer = NeuralNetworkLayer("c", parameters, input: ["x"], output: ["y"])
    return try #require(try layer.compressed(rules).layer.parameters)
  }

  /// Two groups with two input and three output channels each.
  @Test(arguments: [false, true]) func groups(_ isTransposed: Bool) throws {
    var old = Convolution()
    old.isDeconvolution = isTransposed
    (old.outputChannels, old.kernelChannels) = (6, isTransposed ? 4 : 2)
    old.nGroups = 2
    old.kernelSize = [2, 3]
    // Each output of the transposed convolution depends on one tap.
    old.stride = isTransposed ? [2, 3] : [1, 1]
    old.kernel = Weights(random(72, seed: 1))
    let mean = [0.5, -2, 3, 1.25]
    let new = try #require(try compressed(old, mean: mean) as? Convolution)
    #expect(new.kernel?.quantization?.numberOfBits == 2)
    #expect(new.hasBias && new.bias?.floatValue.count == 6)
    let bias = try new.bias?.floatValue.array() ?? []
    let axis = isTransposed ? 1 : 0
    let before = try #require(old.kernel).values(shape: old.kernelShape, channelAxis: axis).array()
    let after = try #require(new.kernel).values(shape: old.kernelShape, channelAxis: axis).array()
    for group in 0..<2 {
      for output in 0..<3 {
        var (x, y) = (0.0, 0.0)
        for input in 0..<2 {
          let pair =
            isTransposed ? (group * 2 + input) * 3 + output : (group * 3 + output) * 2 + input
          for tap in 0..<6 {
            x += Double(before[pair * 6 + tap]) * mean[group * 2 + input]
            y += Double(after[pair * 6 + tap]) * mean[group * 2 + input]
          }
        }
        let share = isTransposed ? 6.0 : 1
        #expect(abs(x / share - y / share - Double(bias[group * 3 + output])) < 1e-5)
        #expect(abs(x - y) > 1e-3)
      }
    }
  }

  @Test func innerProduct() throws {
    var old = InnerProduct()
    (old.inputChannels, old.outputChannels) = (3, 2)
    old.matrix = Weights(random(6, seed: 2))
    old.hasBias = true
    old.bias = Weights([10, -10])
    let mean = [1.0, 2, -4]
    let new = try #require(try compressed(old, mean: mean, bits: 1) as? InnerProduct)
    let bias = try new.bias?.floatValue.array() ?? []
    let before = try #require(old.matrix).values(shape: [2, 3]).array()
    let after = try #require(new.matrix).values(shape: [2, 3]).array()
    for output in 0..<2 {
      let x = (0..<3).reduce(0) { $0 + Double(before[output * 3 + $1]) * mean[$1] }
      let y = (0..<3).reduce(0) { $0 + Double(after[output * 3 + $1]) * mean[$1] }
      #expect(abs(x + (output == 0 ? 10 : -10) - y - Double(bias[output])) < 1e-5)
    }
  }

  /// A mean of a different length belongs to another layer; a compressed bias is not changed.
  @Test func whatStays() throws {
    var old = InnerProduct()
    (old.inputChannels, old.outputChannels) = (3, 2)
    old.matrix = Weights(random(6, seed: 2))
    let new = try #require(try compressed(old, mean: [1, 2]) as? InnerProduct)
    #expect(!new.hasBias && new.bias == nil)
    old.hasBias = true
    old.bias = try Weights([1, 2]).compressed(to: .codes(bits: 8, .linear), shape: [2])
    let other = try #require(try compressed(old, mean: [1, 2, 3]) as? InnerProduct)
    #expect(other.bias?.rawValue.count == 2)
  }
}
