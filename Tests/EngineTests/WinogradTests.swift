import CoreMLModel
import Kernels
import TensorCore
import Testing

@testable import Engine

@Suite struct WinogradTests {
  private typealias Net = TestNetwork

  /// Runs with Winograd's algorithm forced, and checks that it was used.
  private func predict(
    _ model: Model, _ input: Tensor, _ set: InstructionSet, _ form: WinogradForm, threads: Int
  ) throws -> Tensor {
    var options = CompileOptions()
    options.instructionSet = set
    options.threads = threads
    options.convolution = [.two: .winograd2, .six: .winograd6][form] ?? .winograd4
    options.inputShapes["in"] = input.shape
    let network = try CompiledNetwork(model: model, options: options)
    #expect(network.steps.contains { $0.kernel.hasPrefix("Winograd \(form.label)") })
    return try #require(try network.predict(["in": input])["out"])
  }

  /// The largest difference, relative to the largest expected value.
  private func error(_ found: Tensor, _ expected: ReferenceTensor) -> Double {
    let largest = expected.elements.reduce(0) { max($0, abs($1)) }
    return zip(found.elements, expected.elements).reduce(0) {
      max($0, abs(Double($1.0) - $1.1))
    } / largest
  }

  private func check(
    _ model: Model, _ shape: [Int], _ forms: [WinogradForm] = [.two, .four, .six],
    within bound: Double
  ) throws {
    let input = Net.tensor(shape)
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
    for set in InstructionSet.allCases where set.isAvailable {
      for form in forms {
        let one = try predict(model, input, set, form, threads: 1)
        let found = error(one, expected)
        #expect(found <= bound, "\(set) \(form) \(shape): \(found)")
        for threads in [2, 3, 7] {
          #expect(
            try predict(model, input, set, form, threads: threads) == one,
            "\(set) \(form) \(shape) changes with \(threads) threads")
        }
      }
    }
  }

  /// Sizes of every remainder modulo the tile's, channels that do not fill blocks, several images.
  @Test func oddSizes() throws {
    try checkPaddings(
      [
        [1, 1, 5, 3, 4], [1, 1, 8, 13, 9], [2, 3, 17, 6, 11], [1, 2, 40, 8, 7], [1, 1, 33, 5, 30],
      ],
      kernel: [3, 3], [.two, .four, .six])
  }

  /// Kernels of one row or column, for sizes of every remainder modulo the tile's.
  @Test func lines() throws {
    for form in WinogradForm.allCases where form.dimensions == 1 {
      try checkPaddings(
        [
          [1, 1, 5, 9, 7], [1, 1, 8, 13, 10], [2, 3, 17, 8, 11], [1, 2, 40, 17, 17],
          [1, 1, 33, 7, 30],
        ], kernel: form.kernel, [form], Activation(.relu))
    }
  }

  /// Five shapes with and without zero padding, each with a different number of output channels.
  private func checkPaddings(
    _ shapes: [[Int]], kernel: [Int], _ forms: [WinogradForm],
    _ activation: Activation? = nil
  ) throws {
    for (shape, outputs) in zip(shapes, [3, 24, 37, 65, 16]) {
      for padding in [Convolution.Padding.same(SamePadding()), .valid(ValidPadding())] {
        let convolution = Net.convolution(shape[2], outputs, kernel: kernel) {
          $0.padding = padding
        }
        let model = Net.model(
          Array(shape[2...]),
          [
            Net.layer("mix", Net.convolution(shape[2], shape[2], kernel: [1, 1]), "in", "a"),
            Net.layer("c", convolution, "a", activation == nil ? "out" : "b"),
          ] + (activation.map { [Net.layer("r", $0, "b", "out")] } ?? []))
        try check(model, shape, forms, within: 1e-5)
      }
    }
  }

  /// Large maps with few channels, for which each thread takes batches on its own, with an
  /// activation, and a normalization that is folded into the weights.
  @Test func batchesOfTilesAThread() throws {
    let model = Net.model(
      [20, 61, 59],
      [
        Net.layer("mix", Net.convolution(20, 20, kernel: [1, 1]), "in", "a"),
        Net.layer("c", Net.convolution(20, 24), "a", "b"),
        Net.layer("n", Net.batchnorm(24), "b", "c"),
        Net.layer("r", Activation(.leakyReLU(alpha: 0.1)), "c", "out"),
      ])
    try check(model, [1, 1, 20, 61, 59], within: 1e-5)
  }

  /// Fewer panels than threads: batches for each thread, or parts of a shared batch.
  @Test(arguments: InstructionSet.allCases.filter { $0.isAvailable })
  func manyThreads(_ set: InstructionSet) throws {
    for (inputs, outputs, size) in [(20, 24, 31), (64, 64, 29), (128, 40, 17), (160, 96, 30)] {
      let model = Net.model(
        [inputs, size, size], [Net.layer("c", Net.convolution(inputs, outputs), "in", "out")])
      let input = Net.tensor([1, 1, inputs, size, size])
      let one = try predict(model, input, set, .four, threads: 1)
      for threads in [5, 16] {
        #expect(
          try predict(model, input, set, .four, threads: threads) == one,
          "\(inputs) to \(outputs), \(size) × \(size), \(threads) threads")
      }
    }
  }

  @Test func residualAndActivation() throws {
    let model = Net.model(
      [24, 19, 14],
      [
        Net.layer("mix", Net.convolution(24, 24, kernel: [1, 1]), "in", "a"),
        Net.layer("c", Net.convolution(24, 24), "a", "b"),
        NeuralNetworkLayer("add", Add(), input: ["b", "a"], output: ["c"]),
        Net.layer("r", Activation(.relu), "c", "d"),
        Net.layer("c2", Net.convolution(24, 24, seed: 4), "d", "out"),
      ])
    try check(model, [1, 2, 24, 19, 14], within: 1e-5)
  }

  /// 2 × 2 pooling becomes part of the convolution only for even numbers of rows and columns.
  @Test func maximumPooling() throws {
    for (height, width, isFused) in [(18, 20, true), (13, 20, false)] {
      var pooling = Pooling()
      pooling.type = .max
      pooling.kernelSize = [2, 2]
      pooling.stride = [2, 2]
      pooling.padding = .valid(ValidPadding())
      let model = Net.model(
        [24, height, width],
        [
          Net.layer("mix", Net.convolution(24, 24, kernel: [1, 1]), "in", "a"),
          Net.layer("c", Net.convolution(24, 40), "a", "b"),
          Net.layer("r", Activation(.leakyReLU(alpha: 0.1)), "b", "c"),
          Net.layer("p", pooling, "c", "out"),
        ])
      try check(model, [1, 2, 24, height, width], within: 1e-5)
      var options = CompileOptions()
      options.convolution = .winograd4
      let steps = try CompiledNetwork(model: model, options: options).steps
      #expect(steps.contains { $0.kernel.hasSuffix("+ maximum pooling") } == isFused)
    }
  }

  /// As many channels as in the deepest networks; threads share the panels.
  @Test func manyChannels() throws {
    let model = Net.model(
      [512, 9, 10],
      [
        Net.layer("mix", Net.convolution(512, 512, kernel: [1, 1]), "in", "a"),
        Net.layer("c", Net.convolution(512, 96), "a", "out"),
      ])
    try check(model, [1, 1, 512, 9, 10], within: 5e-5)
  }

  /// Convolutions that Winograd's algorithm cannot compute are direct, even if it is requested.
  @Test func otherConvolutionsAreDirect() throws {
    let changes: [(inout Convolution) -> Void] = [
      { $0.stride = [2, 1] }, { $0.dilationFactor = [2, 2] },
      {
        $0.nGroups = 2
        $0.kernelChannels = 32
      },
    ]
    for change in changes {
      let layer = Net.convolution(64, 64, groups: 1) { change(&$0) }
      var used = layer
      used.kernel = Weights(
        Net.tensor([layer.outputChannels * layer.kernelChannels * 9]).elements)
      var options = CompileOptions()
      options.convolution = .winograd4
      let network = try CompiledNetwork(
        model: Net.model([64, 20, 20], [Net.layer("c", used, "in", "out")]), options: options)
      #expect(!network.steps.contains { $0.kernel.hasPrefix("Winograd") })
    }
  }

  @Test(arguments: InstructionSet.allCases.filter { $0.isAvailable })
  func automaticChoice(_ set: InstructionSet) throws {
    func kernel(
      _ inputs: Int, _ outputs: Int, size: Int, taps: [Int] = [3, 3]
    ) throws -> String {
      var options = CompileOptions()
      options.convolution = .automatic
      options.instructionSet = set
      options.threads = 1
      let model = Net.model(
        [inputs, size, size],
        [
          Net.layer("mix", Net.convolution(inputs, inputs, kernel: [1, 1]), "in", "a"),
          Net.layer("c", Net.convolution(inputs, outputs, kernel: taps), "a", "out"),
        ])
      let steps = try CompiledNetwork(model: model, options: options).steps
      return try #require(steps.first { $0.name == "c" }).kernel
    }
    #expect(try kernel(64, 64, size: 56).hasPrefix("Winograd"))
    #expect(try kernel(128, 128, size: 28).hasPrefix("Winograd"))
    // The fastest of the times in docs/design/0020: on a small map, tiles save too little for their
    // weights, unless multiplying is slower than reading; with very many weights they never do.
    let small = set == .baseline ? "Winograd 4×4" : set == .avx2 ? "Winograd 2×2" : "direct"
    #expect(try kernel(512, 512, size: 7).hasPrefix(small))
    #expect(
      try kernel(256, 256, size: 14).hasPrefix(
        set.kernels.channelBlock == 16 ? "Winograd 2×2" : "Winograd 4×4"))
    #expect(try kernel(1024, 1024, size: 13).hasPrefix("Winograd 2×2"))
    #expect(try kernel(512, 512, size: 26).hasPrefix("Winograd 4×4"))
    // Wider vectors would have to wait for the weights of larger tiles.
    #expect(
      try kernel(512, 512, size: 28).hasPrefix(
        set.kernels.channelBlock == 16 ? "Winograd 4×4" : "Winograd 6×6"))
    #expect(try kernel(256, 256, size: 56).hasPrefix("Winograd 6×6"))
    #expect(try kernel(128, 256, size: 56).hasPrefix("Winograd 4×4"))
    #expect(try kernel(192, 192, size: 17, taps: [1, 7]).hasPrefix("Winograd 1×3, 1×7"))
    #expect(try kernel(160, 192, size: 17, taps: [7, 1]).hasPrefix("Winograd 3×1, 7×1"))
    #expect(try kernel(384, 384, size: 8, taps: [1, 3]).hasPrefix("Winograd 1×4, 1×3"))
    // Most of each tile would be cut off.
    #expect(try kernel(128, 128, size: 1).hasPrefix("direct"))
  }

  /// Each of the layers would keep four times its weights.
  @Test func transformedWeightsOfANetworkAreBounded() throws {
    let layer = Net.convolution(512, 512)
    let names = ["in"] + (1...5).map { "c\($0)" } + ["out"]
    let model = Net.model(
      [512, 26, 26],
      zip(names, names.dropFirst()).map { Net.layer($1, layer, $0, $1) })
    var options = CompileOptions()
    options.threads = 2
    options.convolution = .automatic
    let network = try CompiledNetwork(model: model, options: options)
    let most = max(Int(2.2 * Double(6 * 512 * 512 * 9 * 4)), 128 << 20)
    #expect(network.packedWeightBytes <= most)
    let kernels = network.steps.map(\.kernel)
    #expect(kernels.contains { $0.hasPrefix("Winograd 2×2") })
    #expect(kernels.contains { $0.hasPrefix("Winograd 4×4") })
  }
}
