import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Convolutions that a pass replaces with special operations, compared with the double-precision
/// reference implementation, on every instruction set and with any number of threads.
@Suite struct SelectedConvolutionTests {
  private typealias Net = TestNetwork

  private func check(
    _ model: Model, _ shape: [Int], uses kernel: String, within bound: Double = 1e-5,
    _ algorithm: ConvolutionAlgorithm = .automatic
  ) throws {
    let input = Net.tensor(shape)
    let expected = try #require(
      try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
    let largest = expected.elements.reduce(0) { max($0, abs($1)) }
    for set in InstructionSet.allCases where set.isAvailable {
      var first: Tensor?
      for threads in [1, 2, 3, 7] {
        var options = CompileOptions()
        options.instructionSet = set
        options.threads = threads
        options.convolution = algorithm
        options.inputShapes["in"] = shape
        let network = try CompiledNetwork(model: model, options: options)
        let kernels = network.steps.map(\.kernel)
        #expect(kernels.contains { $0.hasPrefix(kernel) }, "\(kernels)")
        let found = try #require(try network.predict(["in": input])["out"])
        #expect(first == nil || first == found, "\(set) changes with \(threads) threads")
        if first != nil { continue }
        first = found
        #expect(found.shape == expected.shape)
        let error =
          zip(found.elements, expected.elements).reduce(0) { max($0, abs(Double($1.0) - $1.1)) }
          / largest
        #expect(error <= bound, "\(set) \(shape): \(error)")
      }
    }
  }

  private func layers(
    _ inputs: Int, _ outputs: Int, _ kernel: [Int], valid: Bool = false, factor: Float = 1,
    then rest: [NeuralNetworkLayer] = []
  ) -> [NeuralNetworkLayer] {
    let last = rest.isEmpty ? "out" : "c"
    let layer = Net.convolution(inputs, outputs, kernel: kernel) {
      if valid { $0.padding = .valid(ValidPadding()) }
      var random = SplitMix64(seed: 5)
      $0.kernel = Weights(
        random.values(inputs * outputs * kernel[0] * kernel[1]).map { $0 * factor })
    }
    return [Net.layer("conv", layer, "in", last)] + rest
  }

  /// One copy for two convolutions with the same strides; then strides
  /// of one axis, and a last row or column that no window reads.
  @Test func subsampledPoints() throws {
    for (inputs, outputs, stride, shape) in [
      (48, 80, [2, 2], [1, 1, 48, 14, 15]), (20, 64, [1, 3], [1, 2, 20, 9, 11]),
      (33, 70, [3, 2], [1, 1, 33, 8, 40]),
    ] {
      func points(_ name: String, _ seed: UInt64) -> NeuralNetworkLayer {
        let layer = Net.convolution(inputs, outputs, kernel: [1, 1], seed: seed) {
          $0.stride = stride
        }
        return Net.layer(name, layer, "in", name)
      }
      let sum = NeuralNetworkLayer("sum", Add(), input: ["a", "b"], output: ["out"])
      try check(
        Net.model(Array(shape[2...]), [points("a", 5), points("b", 6), sum]), shape,
        uses: "every \(stride[0])×\(stride[1]) pixels")
    }
  }

  /// Images with few channels, as planes.
  @Test func largeKernelsOfPlanes() throws {
    for (inputs, outputs, kernel, shape) in [
      (3, 64, [9, 9], [1, 1, 3, 31, 40]), (1, 8, [5, 5], [2, 1, 1, 17, 95]),
      (4, 37, [7, 6], [1, 2, 4, 23, 12]), (2, 17, [5, 11], [1, 1, 2, 40, 25]),
    ] {
      for valid in [false, true] {
        let relu = Net.layer("r", Activation(.relu), "c", "out")
        try check(
          Net.model(
            Array(shape[2...]), layers(inputs, outputs, kernel, valid: valid, then: [relu])),
          shape, uses: "\(kernel[0])×\(kernel[1]) in Winograd")
      }
    }
  }

  @Test func largeKernelsOfBlocks() throws {
    for (inputs, outputs, kernel, shape) in [
      (48, 64, [5, 5], [1, 1, 48, 35, 35]), (9, 300, [7, 7], [1, 1, 9, 15, 23]),
      (20, 24, [9, 5], [1, 2, 20, 12, 30]),
    ] {
      try check(
        Net.model(Array(shape[2...]), layers(inputs, outputs, kernel)), shape,
        uses: "\(kernel[0])×\(kernel[1]) in Winograd")
    }
  }

  /// The end of an image-generating network: three channels, a function that no epilogue supports,
  /// and a different range; then other numbers of channels.
  @Test func largeKernelsOfFewOutputs() throws {
    let picture = [
      Net.layer("t", Activation(.tanh), "c", "d"),
      Net.layer("l", Activation(.linear(alpha: 127.5, beta: 127.5)), "d", "out"),
    ]
    try check(
      Net.model([64, 40, 190], layers(64, 3, [9, 9], factor: 1 / 64, then: picture)),
      [1, 1, 64, 40, 190],
      uses: "9×9 in Winograd 3×3, 3×3 + tanh + linear")
    for (inputs, outputs, kernel, shape) in [
      (20, 1, [5, 5], [1, 2, 20, 38, 17]), (8, 4, [11, 5], [1, 1, 8, 20, 64]),
      (17, 2, [7, 9], [2, 1, 17, 13, 33]),
    ] {
      let slopes = Activation(.prelu(alpha: Weights((0..<outputs).map { Float($0) / 8 - 0.2 })))
      for valid in [false, true] {
        try check(
          Net.model(
            Array(shape[2...]),
            layers(
              inputs, outputs, kernel, valid: valid, then: [Net.layer("p", slopes, "c", "out")])),
          shape, uses: "\(kernel[0])×\(kernel[1]) in Winograd")
      }
    }
  }

  /// Sizes of every remainder modulo the tile's; activations with one parameter per channel.
  @Test func upsampledConvolutions() throws {
    for (inputs, outputs, shape) in [
      (64, 64, [1, 1, 64, 30, 31]), (8, 9, [2, 1, 8, 1, 4]), (17, 40, [1, 3, 17, 12, 5]),
      (33, 16, [1, 1, 33, 28, 9]),
    ] {
      var upsample = Upsample()
      upsample.scalingFactor = [2, 2]
      upsample.mode = .nearest
      let slopes = Activation(.prelu(alpha: Weights((0..<outputs).map { Float($0) / 64 - 0.2 })))
      try check(
        Net.model(
          Array(shape[2...]),
          [
            Net.layer("mix", Net.convolution(inputs, inputs, kernel: [1, 1]), "in", "a"),
            Net.layer("u", upsample, "a", "b"),
            Net.layer("c", Net.convolution(inputs, outputs), "b", "c"),
            Net.layer("n", Net.batchnorm(outputs), "c", "d"), Net.layer("p", slopes, "d", "out"),
          ]), shape, uses: "upsampled")
    }
  }

  /// Pooling that larger Winograd tiles would absorb stays separate if the input is enlarged.
  @Test func pooledUpsampledConvolution() throws {
    var upsample = Upsample()
    upsample.scalingFactor = [2, 2]
    upsample.mode = .nearest
    var pooling = Pooling()
    pooling.type = .max
    pooling.kernelSize = [2, 2]
    pooling.stride = [2, 2]
    pooling.padding = .valid(ValidPadding())
    let model = Net.model(
      [64, 30, 32],
      [
        Net.layer("mix", Net.convolution(64, 64, kernel: [1, 1]), "in", "a"),
        Net.layer("u", upsample, "a", "b"), Net.layer("c", Net.convolution(64, 64), "b", "c"),
        Net.layer("p", pooling, "c", "out"),
      ])
    try check(model, [1, 1, 64, 30, 32], uses: "Winograd", within: 2e-5)
  }

  @Test func planesToPlanes() throws {
    for (inputs, outputs, shape) in [
      (3, 6, [1, 1, 3, 37, 70]), (1, 1, [2, 3, 1, 9, 16]), (8, 8, [1, 1, 8, 21, 133]),
    ] {
      let dilated = Net.convolution(inputs, outputs, kernel: [3, 2]) { $0.dilationFactor = [2, 1] }
      for algorithm in [ConvolutionAlgorithm.automatic, .direct] {
        try check(
          Net.model(
            Array(shape[2...]),
            [
              Net.layer("a", Net.convolution(inputs, outputs), "in", "a"),
              Net.layer("n", Net.batchnorm(outputs), "a", "b"),
              Net.layer("e", Activation(.elu(alpha: 0.5)), "b", "out"),
            ]), shape, uses: "planar 3×3 + elu", algorithm)
      }
      try check(
        Net.model(Array(shape[2...]), [Net.layer("a", dilated, "in", "out")]), shape,
        uses: "planar 3×2")
    }
  }

  /// x · sigmoid(x) as two layers, and the average of each plane: only the average is written.
  @Test func swishAndAverage() throws {
    var pooling = Pooling()
    pooling.type = .average
    pooling.globalPooling = true
    for (outputs, shape) in [(6, [1, 1, 3, 67, 64]), (5, [1, 3, 2, 16, 41])] {
      let model = Net.model(
        Array(shape[2...]),
        [
          Net.layer("c", Net.convolution(shape[2], outputs), "in", "a"),
          Net.layer("s", Activation(.sigmoid), "a", "b"),
          NeuralNetworkLayer("m", Multiply(), input: ["a", "b"], output: ["d"]),
          Net.layer("p", pooling, "d", "out"),
        ])
      for algorithm in [ConvolutionAlgorithm.automatic, .direct] {
        try check(model, shape, uses: "planar 3×3 + swish + average", algorithm)
      }
    }
  }

  @Test func aFactorBeforeTheSigmoidBecomesThatOfSwish() throws {
    let shape = [1, 1, 4, 5, 6]
    let model = Net.model(
      [4, 5, 6],
      [
        Net.layer("l", Activation(.linear(alpha: 1.5, beta: 0)), "in", "a"),
        Net.layer("s", Activation(.sigmoid), "a", "b"),
        NeuralNetworkLayer("m", Multiply(), input: ["b", "in"], output: ["out"]),
      ])
    try check(model, shape, uses: "swish", within: 1e-6)
    let other = Net.model(
      [4, 5, 6],
      [
        Net.layer("l", Activation(.linear(alpha: 1.5, beta: 0.5)), "in", "a"),
        Net.layer("s", Activation(.sigmoid), "a", "b"),
        NeuralNetworkLayer("m", Multiply(), input: ["b", "in"], output: ["out"]),
      ])
    try check(other, shape, uses: "multiply", within: 1e-6)
  }

  /// A residual larger than the sum, cropped by a built-in layer and by a custom one.
  @Test func aCroppedResidualIsReadInPlace() throws {
    var crop = Crop()
    crop.cropAmounts = BorderAmounts(top: 2, bottom: 2, left: 2, right: 2)
    var custom = Custom()
    custom.className = "ResCropBlockLambda"
    let layers: [any LayerParameters] = [crop, custom]
    for parameters in layers {
      for kernel in [[5, 5], [1, 1]] {
        let cut = kernel[0] == 5 ? Net.convolution(24, 24, kernel: [3, 3]) : nil
        var block: [NeuralNetworkLayer] = [
          Net.layer("mix", Net.convolution(24, 24, kernel: [1, 1]), "in", "a")
        ]
        block.append(
          NeuralNetworkLayer("crop", parameters, input: ["a"], output: ["cropped"]))
        if var first = cut {
          first.padding = .valid(ValidPadding())
          block.append(Net.layer("c1", first, "a", "b"))
          block.append(Net.layer("c2", first, "b", "c"))
        } else {
          block.append(NeuralNetworkLayer("crop2", crop, input: ["a"], output: ["b"]))
          block.append(Net.layer("c2", Net.convolution(24, 24, kernel: [1, 1]), "b", "c"))
        }
        block.append(NeuralNetworkLayer("add", Add(), input: ["c", "cropped"], output: ["out"]))
        let model = Net.model([24, 19, 30], block)
        for algorithm in ConvolutionAlgorithm.allCases {
          let input = Net.tensor([1, 2, 24, 19, 30])
          let expected = try #require(
            try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"])
          var options = CompileOptions()
          options.convolution = algorithm
          options.threads = 2
          options.inputShapes["in"] = input.shape
          let network = try CompiledNetwork(model: model, options: options)
          #expect(network.steps.filter { $0.kernel == "crop" }.count == (cut == nil ? 1 : 0))
          let found = try #require(try network.predict(["in": input])["out"])
          let largest = expected.elements.reduce(0) { max($0, abs($1)) }
          let error = zip(found.elements, expected.elements).reduce(0) {
            max($0, abs(Double($1.0) - $1.1))
          }
          #expect(error <= 1e-5 * largest, "\(algorithm) \(kernel): \(error / largest)")
        }
      }
    }
  }

  /// Convolutions that are requested to be direct are not split into pieces.
  @Test func directIsDirect() throws {
    var options = CompileOptions()
    options.convolution = .direct
    let network = try CompiledNetwork(
      model: Net.model([3, 30, 30], layers(3, 64, [9, 9])), options: options)
    #expect(network.steps.contains { $0.kernel == "direct 9×9" })
  }
}
