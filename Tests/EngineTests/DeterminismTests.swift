import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

@Suite struct DeterminismTests {
  private typealias Net = TestNetwork

  /// One of each operation whose work is divided.
  private var model: Model {
    var pooling = Pooling()
    pooling.type = .max
    pooling.kernelSize = [2, 2]
    pooling.stride = [2, 2]
    var twice = Upsample()
    twice.scalingFactor = [2, 2]
    var bilinear = Upsample()
    bilinear.scalingFactor = [2, 2]
    bilinear.mode = .bilinear
    var instance = Batchnorm()
    instance.channels = 24
    instance.computeMeanVar = true
    instance.instanceNormalization = true
    instance.gamma = Weights([Float](repeating: 1.5, count: 24))
    instance.beta = Weights([Float](repeating: 0.5, count: 24))
    var response = LRN()
    response.alpha = 0.1
    response.beta = 0.75
    response.localSize = 5
    let up = Net.convolution(24, 20, seed: 5) {
      $0.isDeconvolution = true
      $0.kernelChannels = 24
      $0.stride = [2, 2]
    }
    var dense = InnerProduct()
    dense.inputChannels = 20 * 22 * 22
    dense.outputChannels = 37
    dense.matrix = Weights(Net.tensor([37 * 20 * 22 * 22]).elements)
    return Net.model(
      [3, 22, 22], outputs: ["j", "out"],
      [
        Net.layer("c1", Net.convolution(3, 24), "in", "a"),
        Net.layer("r1", Activation(.relu), "a", "b"),
        Net.layer("c2", Net.convolution(24, 24, seed: 3, groups: 24), "b", "c"),
        Net.layer("n", instance, "c", "d"), Net.layer("l", response, "d", "e"),
        Net.layer("p", pooling, "e", "f"), Net.layer("u", up, "f", "g"),
        Net.layer("c3", Net.convolution(20, 20, seed: 6, groups: 5), "g", "h"),
        Net.layer("t", Activation(.tanh), "h", "i"), Net.layer("d", dense, "i", "j"),
        Net.layer("s", Softmax(), "j", "out"),
      ])
  }

  @Test func predictionsAreTheSameBitsWithAnyNumberOfThreads() throws {
    let input = Net.tensor([1, 1, 3, 22, 22])
    let one = try Net.predict(model, input) { $0.threads = 1 }["out"]
    for threads in [2, 3, 4, 7] {
      let many = try Net.predict(model, input) { $0.threads = threads }["out"]
      #expect(many == one)
    }
  }

  @Test func predictionsRepeat() throws {
    let network = try CompiledNetwork(model: model)
    let input = ["in": Net.tensor([1, 1, 3, 22, 22])]
    let first = try network.predict(input)
    _ = try network.predict(["in": Net.tensor([1, 1, 3, 22, 22], seed: 99)])
    #expect(try network.predict(input) == first)
  }

  @Test func instructionSetsAgree() throws {
    let input = Net.tensor([1, 1, 3, 22, 22])
    let baseline = try Net.predict(model, input) { $0.instructionSet = .baseline }["out"]
    for set in InstructionSet.allCases where set.isAvailable {
      let result = try Net.predict(model, input) { $0.instructionSet = set }["out"]
      #expect(relativeError(result, baseline) < 1e-5)
    }
  }

  @Test func aBatchIsItsItems() throws {
    let batch = Net.tensor([2, 3, 3, 22, 22])
    let whole = try Net.predict(model, batch)
    #expect(whole["out"]?.shape == [2, 3, 37, 1, 1])
    // The inputs of the softmax, which turns their absolute differences into relative ones. Each is
    // a sum of 9,680 terms, computed in parts for six items and in lanes for one.
    let logits = try #require(whole["j"])
    let size = 3 * 22 * 22
    for item in 0..<6 {
      let one = Tensor(
        shape: [1, 1, 3, 22, 22], Array(batch.elements[item * size..<(item + 1) * size]))
      let single = try #require(try Net.predict(model, one)["j"])
      let part = Tensor(
        shape: single.shape, Array(logits.elements[item * 37..<(item + 1) * 37]))
      #expect(relativeError(part, single) < 2e-6)
    }
  }
}
