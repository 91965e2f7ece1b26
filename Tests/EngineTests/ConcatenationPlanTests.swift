import CoreMLModel
import Kernels
import TensorCore
import Testing

@testable import Engine

/// Parts of a concatenation that are written in place: beside parts that are not, nested, with
/// other readers, with and without a halo.
@Suite struct ConcatenationPlanTests {
  private typealias Net = TestNetwork

  private func joined(_ name: String, _ inputs: [String], _ output: String) -> NeuralNetworkLayer {
    NeuralNetworkLayer(name, Concat(), input: inputs, output: [output])
  }

  private func expectExact(
    _ layers: [NeuralNetworkLayer], channels: Int, outputs: [String] = ["out"],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let model = Net.model([channels, 9, 9], outputs: outputs, layers)
    let input = Net.tensor([1, 2, channels, 9, 9])
    let exact = try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])
    for set in InstructionSet.allCases where set.isAvailable {
      for threads in [1, 3] {
        let results = try Net.predict(model, input) {
          $0.threads = threads
          $0.instructionSet = set
        }
        for name in outputs {
          let wanted = try #require(exact[name]).elements
          let largest = wanted.map { abs($0) }.max() ?? 0
          let found = try #require(results[name]).elements
          let worst = zip(found, wanted).map { abs(Double($0) - $1) }.max() ?? .infinity
          #expect(worst <= 1e-5 * largest, "\(set) \(name)", sourceLocation: sourceLocation)
        }
      }
    }
  }

  @Test func branchesOfOneInput() throws {
    try expectExact(
      [
        Net.layer("a", Net.convolution(5, 32, kernel: [1, 1]), "in", "a"),
        Net.layer("b", Net.convolution(5, 16, seed: 2), "in", "b"),
        Net.layer("c", Net.convolution(5, 19, seed: 3), "in", "c"),
        joined("j", ["a", "b", "c"], "d"),
        // Requests a halo, which all parts then get.
        Net.layer("e", Net.convolution(67, 8, seed: 4), "d", "out"),
      ], channels: 5)
  }

  @Test func partsThatDoNotFillBlocksAndRepeatedOnes() throws {
    try expectExact(
      [
        Net.layer("a", Net.convolution(5, 16), "in", "a"),
        Net.layer("b", Net.convolution(5, 7, seed: 2), "in", "b"),
        Net.layer("c", Net.convolution(5, 16, seed: 3), "in", "c"),
        joined("j", ["a", "b", "c", "a", "in"], "d"),
        Net.layer("e", Net.convolution(60, 8, kernel: [1, 1], seed: 4), "d", "out"),
      ], channels: 5)
  }

  @Test func concatenationsOfConcatenations() throws {
    try expectExact(
      [
        Net.layer("a", Net.convolution(5, 16), "in", "a"),
        Net.layer("b", Net.convolution(5, 32, seed: 2), "in", "b"),
        joined("j", ["a", "b"], "ab"),
        Net.layer("c", Net.convolution(48, 16, seed: 3), "ab", "c"),
        joined("k", ["c", "ab"], "cab"), joined("l", ["ab", "c"], "abc"),
        Net.layer("d", Net.convolution(64, 8, seed: 4), "cab", "d"),
        Net.layer("e", Net.convolution(64, 8, kernel: [1, 1], seed: 5), "abc", "e"),
        NeuralNetworkLayer("s", Add(), input: ["d", "e"], output: ["out"]),
      ], channels: 5, outputs: ["out", "ab", "c"])
  }

  @Test func elementwiseLayersBetween() throws {
    try expectExact(
      [
        Net.layer("a", Net.convolution(5, 16), "in", "a"),
        Net.layer("t", Activation(.tanh), "a", "b"), Net.layer("u", Activation(.sigmoid), "a", "c"),
        joined("j", ["b", "c", "a"], "d"), Net.layer("v", Activation(.tanh), "b", "e"),
        joined("k", ["d", "e"], "out"),
      ], channels: 5)
  }
}
