import CoreMLModel
import Kernels
import TensorCore
import Testing

@testable import Engine

@Suite struct StrassenTests {
  private typealias Net = TestNetwork

  /// Runs with Strassen's algorithm forced, and checks that it was used.
  private func predict(
    _ model: Model, _ input: Tensor, _ set: InstructionSet, threads: Int
  ) throws -> Tensor {
    var options = CompileOptions()
    options.instructionSet = set
    options.threads = threads
    options.convolution = .strassen
    options.inputShapes["in"] = input.shape
    let network = try CompiledNetwork(model: model, options: options)
    #expect(network.steps.contains { $0.kernel.hasPrefix("Strassen 1×1") })
    return try #require(try network.predict(["in": input])["out"])
  }

  /// Within a few times the rounding error of a sum, and the same for any number of threads.
  private func check(_ model: Model, _ shape: [Int], within bound: Double = 2e-6) throws {
    let input = Net.tensor(shape)
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
    let largest = expected.elements.reduce(0) { max($0, abs($1)) }
    for set in InstructionSet.allCases where set.isAvailable {
      let one = try predict(model, input, set, threads: 1)
      #expect(one.shape == expected.shape)
      let error =
        zip(one.elements, expected.elements).reduce(0) { max($0, abs(Double($1.0) - $1.1)) }
        / largest
      #expect(error <= bound, "\(set) \(shape): \(error)")
      for threads in [2, 3, 7] {
        #expect(
          try predict(model, input, set, threads: threads) == one,
          "\(set) \(shape) changes with \(threads) threads")
      }
    }
  }

  private func pointwise(
    _ inputs: Int, _ outputs: Int, seed: UInt64 = 1, change: (inout Convolution) -> Void = { _ in }
  ) -> Convolution {
    Net.convolution(inputs, outputs, kernel: [1, 1], seed: seed, change: change)
  }

  /// Odd numbers of pixels and of channel blocks, channels that do not fill blocks, several images,
  /// bands with one tile.
  @Test func oddSizes() throws {
    for (inputs, outputs, shape) in [
      (32, 32, [1, 1, 32, 1, 1]), (28, 60, [1, 1, 28, 7, 7]), (64, 25, [2, 3, 64, 3, 5]),
      (128, 192, [1, 1, 128, 19, 23]), (31, 320, [1, 3, 31, 5, 30]),
      (48, 80, [1, 1, 48, 9, 9]), (40, 200, [1, 2, 40, 13, 3]), (96, 24, [1, 1, 96, 6, 11]),
      (8, 16, [1, 1, 8, 5, 5]), (184, 1000, [1, 1, 184, 7, 7]),
    ] {
      try check(
        Net.model(
          Array(shape[2...]),
          [
            Net.layer("mix", pointwise(inputs, inputs, seed: 3), "in", "a"),
            Net.layer("c", pointwise(inputs, outputs), "a", "out"),
          ]), shape)
    }
  }

  /// As many channels as the deepest networks: bands share the second-level cache with the weights.
  @Test func manyChannels() throws {
    try check(
      Net.model(
        [1024, 14, 13],
        [
          Net.layer("mix", pointwise(1024, 128, seed: 3), "in", "a"),
          Net.layer("c", pointwise(128, 1024), "a", "out"),
        ]), [1, 1, 1024, 14, 13])
  }

  /// Input channels in two and in three parts, the last with an odd number of blocks and with
  /// channels that do not fill one: bias and shortcut are added once, the activation comes last.
  @Test(arguments: [1500, 2420]) func parts(_ channels: Int) throws {
    let model = Net.model(
      [channels, 12, 13],
      [
        Net.layer("mix", pointwise(channels, 40, seed: 3), "in", "a"),
        Net.layer("wide", pointwise(40, channels, seed: 5), "a", "b"),
        Net.layer("c", pointwise(channels, 40), "b", "c"),
        NeuralNetworkLayer("add", Add(), input: ["c", "a"], output: ["d"]),
        Net.layer("r", Activation(.leakyReLU(alpha: 0.1)), "d", "e"),
        Net.layer("last", pointwise(40, 24, seed: 4), "e", "out"),
      ])
    try check(model, [1, 1, channels, 12, 13])
  }

  /// A stride, between convolutions that need zeros around their inputs.
  @Test func strideAndHalo() throws {
    try check(
      Net.model(
        [32, 17, 12],
        [
          Net.layer("a", Net.convolution(32, 32), "in", "a"),
          Net.layer("b", pointwise(32, 64) { $0.stride = [2, 2] }, "a", "b"),
          Net.layer("c", Net.convolution(64, 8), "b", "out"),
        ]), [1, 2, 32, 17, 12])
  }

  /// Zeros that the layer adds around its input.
  @Test func padding() throws {
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(top: 1, bottom: 2, left: 0, right: 3)
    try check(
      Net.model(
        [32, 6, 9],
        [
          Net.layer("a", pointwise(32, 32, seed: 3), "in", "a"),
          Net.layer(
            "c", pointwise(32, 64) { $0.padding = .valid(padding) }, "a", "out"),
        ]), [1, 2, 32, 6, 9])
  }

  /// Factors of a normalization go into the weights before they are combined.
  @Test func normalizationResidualAndActivation() throws {
    let model = Net.model(
      [64, 9, 14],
      [
        Net.layer("mix", pointwise(64, 64, seed: 3), "in", "a"),
        Net.layer("c", pointwise(64, 64), "a", "b"),
        Net.layer("n", Net.batchnorm(64), "b", "c"),
        NeuralNetworkLayer("add", Add(), input: ["c", "a"], output: ["d"]),
        Net.layer("r", Activation(.leakyReLU(alpha: 0.1)), "d", "e"),
        Net.layer("c2", Net.convolution(64, 8, seed: 4), "e", "out"),
      ])
    try check(model, [1, 2, 64, 9, 14])
  }

  /// Groups are computed directly, even if Strassen's algorithm is requested.
  @Test func groupsAreDirect() throws {
    var options = CompileOptions()
    options.convolution = .strassen
    options.instructionSet = .baseline
    let layer = Net.convolution(64, 64, kernel: [1, 1], groups: 2)
    let network = try CompiledNetwork(
      model: Net.model([64, 20, 20], [Net.layer("c", layer, "in", "out")]), options: options)
    #expect(!network.steps.contains { $0.kernel.hasPrefix("Strassen") })
  }

  @Test func automaticChoice() throws {
    func kernel(_ inputs: Int, _ outputs: Int, size: Int) throws -> String {
      var options = CompileOptions()
      options.convolution = .automatic
      options.threads = 1
      let model = Net.model(
        [inputs, size, size],
        [
          Net.layer("first", Net.convolution(inputs, inputs, groups: inputs), "in", "a"),
          Net.layer("c", pointwise(inputs, outputs), "a", "out"),
        ])
      let steps = try CompiledNetwork(model: model, options: options).steps
      return try #require(steps.first { $0.name == "c" }).kernel
    }
    #expect(try kernel(512, 512, size: 14).hasPrefix("Strassen"))
    #expect(try kernel(1024, 256, size: 14).hasPrefix("Strassen"))
    // 125 blocks of eight channels, 63 of sixteen.
    #expect(try kernel(512, 1000, size: 14).hasPrefix("Strassen"))
    // With few channels, the sums cost more than they save.
    #expect(try !kernel(64, 64, size: 56).hasPrefix("Strassen"))
    // More weights are read than reused.
    #expect(try !kernel(1024, 1024, size: 1).hasPrefix("Strassen"))
  }

  @Test func everyPairOfEveryPanelOnce() throws {
    for (pixels, channels, threads) in [
      (49, 1024, 2), (196, 512, 3), (128, 3072, 2), (128, 1504, 2), (784, 256, 16), (1, 64, 4),
      (196, 1000, 2),
    ] {
      let kernels = InstructionSet.baseline.kernels
      let geometry = ConvolutionGeometry(
        try Shape([1, 1, channels, 1, pixels]), inputs: channels, outputs: channels,
        block: kernels.channelBlock)
      let parts = StrassenSchedule.parts(of: geometry, kernels: kernels, threads: threads)
      #expect(parts.count == geometry.strassenParts)
      var inputs = 0
      for schedule in parts {
        #expect(schedule.firstInput == inputs)
        inputs += schedule.geometry.inputs
        #expect((0..<schedule.bands).flatMap { schedule.band($0) } == Array(0..<(pixels + 1) / 2))
        let blocks = (0..<schedule.panels).map { schedule.blocks(ofPanel: $0) }.reduce(0, +)
        // 1000 channels are 125 blocks: half of them are 63.
        #expect(blocks * kernels.channelBlock == (channels == 1000 ? 504 : channels / 2))
      }
      #expect(inputs == channels)
    }
  }
}
