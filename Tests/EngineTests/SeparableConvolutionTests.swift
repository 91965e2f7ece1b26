import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

@Suite struct SeparableConvolutionTests {
  private typealias Net = TestNetwork

  private func model(_ channels: Int, size: Int, stride: Int, readers: Int = 1) -> Model {
    let depthwise = Net.convolution(channels, channels, seed: 3, groups: channels) {
      $0.stride = [stride, stride]
    }
    var layers = [
      Net.layer("d", depthwise, "in", "a"), Net.layer("r", Activation(.relu), "a", "b"),
      Net.layer("p", Net.convolution(channels, 40, kernel: [1, 1], seed: 4), "b", "c"),
      Net.layer("l", Activation(.leakyReLU(alpha: 0.25)), "c", "d"),
      Net.layer("q", Net.convolution(40, 8, seed: 5), "d", "out"),
    ]
    if readers > 1 { layers.append(Net.layer("o", Activation(.tanh), "b", "other")) }
    return Net.model(
      [channels, size, size], outputs: readers > 1 ? ["out", "other"] : ["out"], layers)
  }

  private func kernels(_ model: Model, threads: Int) throws -> [String] {
    var options = CompileOptions()
    options.threads = threads
    return try CompiledNetwork(model: model, options: options).steps.map(\.kernel)
  }

  @Test func theTwoAreOneStepWhereRowsShareOutEvenly() throws {
    let fused = "depthwise 3×3 + relu, direct 1×1 + leaky"
    #expect(try kernels(model(24, size: 12, stride: 1), threads: 1).contains(fused))
    #expect(try kernels(model(24, size: 12, stride: 1), threads: 4).contains(fused))
    // Seven rows for two threads: one thread would compute four.
    #expect(try !kernels(model(24, size: 7, stride: 1), threads: 2).contains(fused))
    #expect(try !kernels(model(24, size: 12, stride: 1, readers: 2), threads: 1).contains(fused))
  }

  @Test(arguments: InstructionSet.allCases.filter { $0.isAvailable })
  func resultsAreThoseOfTheDefinition(_ set: InstructionSet) throws {
    // The last is so wide that an image has several bands.
    for (channels, size, stride) in [(24, 12, 1), (17, 13, 2), (160, 36, 1)] {
      let model = model(channels, size: size, stride: stride)
      let input = Net.tensor([1, 2, channels, size, size])
      let exact = try #require(
        try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
      let one = try #require(
        try Net.predict(model, input) {
          $0.threads = 1
          $0.instructionSet = set
        }["out"])
      let largest = exact.elements.map { abs($0) }.max() ?? 0
      for (value, wanted) in zip(one.elements, exact.elements) {
        guard abs(Double(value) - wanted) <= 1e-5 * largest else {
          Issue.record("\(set) \(channels) × \(size): \(value) instead of \(wanted)")
          break
        }
      }
      for threads in [2, 3, 4] {
        let many = try Net.predict(model, input) {
          $0.threads = threads
          $0.instructionSet = set
        }["out"]
        #expect(many == one, "\(threads) threads")
      }
      let apart = try Net.predict(model, input) {
        $0.keep = .all
        $0.instructionSet = set
      }["out"]
      #expect(relativeError(apart, one) < 2e-6)
    }
  }

  @Test func bandsCoverEveryRowOnce() throws {
    for (height, images, threads) in [(14, 1, 2), (112, 3, 1), (7, 1, 5), (1, 1, 1), (56, 2, 16)] {
      let shape = try Shape([images, 1, 300, height, height])
      let bands = SeparableBands(shape, block: 16, threads: threads)
      var seen: [Int] = []
      for index in 0..<bands.count {
        let (image, rows) = bands[index]
        #expect(rows.count <= bands.rows)
        seen += rows.map { image * height + $0 }
      }
      #expect(seen == Array(0..<images * height))
    }
  }
}
