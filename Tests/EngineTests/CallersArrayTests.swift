import CoreMLModel
import Kernels
import TensorCore
import Testing

@testable import Engine

/// Tensors that the caller passes in, and those that it receives.
@Suite struct CallersArrayTests {
  private typealias Net = TestNetwork

  /// Compares with the reference implementation on every instruction set, and checks whether the
  /// input is copied.
  private func check(_ model: Model, _ shape: [Int], isCopied: Bool) throws {
    let input = Net.tensor(shape)
    let before = input.elements
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
    let largest = expected.elements.reduce(0) { max($0, abs($1)) }
    for set in InstructionSet.allCases where set.isAvailable {
      for threads in [1, 3] {
        var options = CompileOptions()
        options.instructionSet = set
        options.threads = threads
        options.inputShapes["in"] = shape
        let network = try CompiledNetwork(model: model, options: options)
        #expect(network.steps.contains { $0.layerType == "input" } == isCopied)
        let found = try #require(try network.predict(["in": input])["out"])
        #expect(found.shape == expected.shape)
        let error =
          zip(found.elements, expected.elements).reduce(0) { max($0, abs(Double($1.0) - $1.1)) }
        #expect(error <= 2e-6 * largest, "\(set) \(shape), \(threads) threads: \(error)")
      }
    }
    #expect(input.elements == before)
  }

  private func convolution(
    _ inputs: Int, kernel: Int, stride: Int, groups: Int = 1, padding: Int = 0
  ) -> Convolution {
    Net.convolution(inputs, 12, kernel: [kernel, kernel], groups: groups) {
      var valid = ValidPadding()
      valid.paddingAmounts = BorderAmounts(
        top: padding, bottom: padding, left: padding, right: padding)
      $0.padding = .valid(valid)
      $0.stride = [stride, stride]
    }
  }

  /// Rows and columns that no window covers follow the last ones.
  @Test func convolutionReadsInPlace() throws {
    for (inputs, kernel, stride) in [(3, 3, 2), (1, 1, 1), (8, 5, 3), (4, 3, 1), (3, 2, 4)] {
      try check(
        Net.model(
          [inputs, 23, 38],
          [Net.layer("c", convolution(inputs, kernel: kernel, stride: stride), "in", "out")]),
        [1, 2, inputs, 23, 38], isCopied: false)
    }
  }

  @Test func zerosRoundTheInputTakeACopy() throws {
    try check(
      Net.model(
        [3, 23, 38],
        [Net.layer("c", convolution(3, kernel: 3, stride: 2, padding: 1), "in", "out")]),
      [1, 1, 3, 23, 38], isCopied: true)
  }

  /// One reader works in place, the other on channel blocks.
  @Test func otherReadersTakeACopy() throws {
    try check(
      Net.model(
        [4, 9, 9],
        [
          Net.layer("r", Activation(.relu), "in", "a"),
          Net.layer("c", convolution(4, kernel: 3, stride: 1), "in", "b"),
          Net.layer("d", convolution(4, kernel: 3, stride: 1, groups: 2), "a", "e"),
          NeuralNetworkLayer("add", Add(), input: ["b", "e"], output: ["out"]),
        ]), [1, 1, 4, 9, 9], isCopied: true)
  }

  /// Row-major results in many pieces, with a partial last one, and results of a single element.
  @Test func rowMajorResults() throws {
    for shape in [[1, 1, 3, 101, 173], [1, 3, 1000, 1, 1], [1, 1, 1, 1, 1]] {
      try check(
        Net.model(Array(shape[2...]), [Net.layer("r", Activation(.relu), "in", "out")]), shape,
        isCopied: true)
    }
  }
}
