import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Networks whose products are computed by emulated bf16 tiles.
@Suite(.enabled(if: InstructionSet.avx512.isAvailable, "needs AVX-512"))
struct BFloatTileNetworkTests {
  private typealias Net = TestNetwork

  /// 1 × 1, strided and grouped convolutions, the last with a shortcut, then rows of a dense layer.
  private var model: Model {
    Net.model(
      [48, 15, 13],
      [
        Net.layer("c1", Net.convolution(48, 96, kernel: [1, 1]), "in", "a"),
        Net.layer("r1", Activation(.relu), "a", "b"),
        Net.layer("c2", Net.convolution(96, 64, kernel: [1, 1], seed: 2), "b", "c"),
        Net.layer("c3", Net.convolution(64, 64, seed: 3) { $0.stride = [2, 2] }, "c", "d"),
        Net.layer("c4", Net.convolution(64, 96, kernel: [1, 1], seed: 4), "d", "out"),
      ])
  }

  @Test func bitsDoNotDependOnThreads() throws {
    let input = Net.tensor([1, 1, 48, 15, 13])
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
    let largest = expected.elements.reduce(0) { max($0, abs($1)) }
    func error(_ tensor: Tensor) -> Double {
      zip(tensor.elements, expected.elements).reduce(0) { max($0, abs(Double($1.0) - $1.1)) }
        / largest
    }
    func predict(_ tiles: Tiles, threads: Int) throws -> Tensor {
      try #require(
        try Net.predict(model, input) {
          $0.instructionSet = .avx512
          $0.tiles = tiles
          $0.threads = threads
        }["out"])
    }
    let first = try predict(.emulated, threads: 1)
    let multiplyAdds = try predict(.none, threads: 1)
    #expect(first != multiplyAdds)
    #expect(error(first) <= error(multiplyAdds) + 2e-7)
    for threads in [2, 3, 7, 16] { #expect(try predict(.emulated, threads: threads) == first) }
  }
}
