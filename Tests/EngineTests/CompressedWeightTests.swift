import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Networks with compressed weights compute exactly the same as with the same values in single
/// precision, and match the reference implementation within rounding, on every instruction set and
/// with any number of threads.
@Suite struct CompressedWeightTests {
  private typealias Net = TestNetwork

  /// The ways in which tests store weights.
  enum Storage: CaseIterable {
    case half, linear, linearHalves, linearOfAll, table

    func weights(
      _ shape: [Int], channelAxis: Int = 0, bits: Int, seed: UInt64, factor: Float = 1
    ) -> Weights {
      var random = SplitMix64(seed: seed)
      let count = shape.reduce(1, *)
      var weights = Weights()
      if self == .half {
        let bytes = random.values(count).flatMap { value in
          withUnsafeBytes(of: Float16(value * factor)) { Array($0) }
        }
        weights.float16Value = Bytes(bytes)
        return weights
      }
      let codes = (0..<count).map { _ in Int(random.next() >> 32) & ((1 << bits) - 1) }
      weights.rawValue = Bytes(packed(codes, bits: bits))
      var quantization = Quantization()
      quantization.numberOfBits = bits
      let steps = Float(1 << bits)
      switch self {
      case .table:
        quantization.kind = .lookupTable(random.values(1 << bits).map { $0 * factor })
      case .linear, .linearHalves:
        quantization.roundsToHalf = self == .linearHalves
        let scales = random.values(shape[channelAxis]).map { (1 + $0 / 2) * 2 * factor / steps }
        quantization.kind = .linear(scale: scales, bias: scales.map { -$0 * steps / 2 })
      default: quantization.kind = .linear(scale: [2 * factor / steps], bias: [-factor])
      }
      weights.quantization = quantization
      return weights
    }
  }

  /// The model with the same values in single precision.
  private func expanded(_ model: Model) throws -> Model {
    var model = model
    var network = try #require(model.neuralNetwork)
    for index in network.layers.indices {
      let named = network.layers[index].parameters?.weights ?? []
      try network.layers[index].editWeights { field, weights in
        guard let own = named.first(where: { $0.name == field }) else { return }
        weights = Weights(try own.decoded())
      }
    }
    model.neuralNetwork = network
    return model
  }

  /// - Parameter isExact: whether both results must be equal, not only within rounding.
  private func check(
    _ model: Model, _ shape: [Int], kernel: String, isExact: Bool = true,
    threadCounts: [Int] = [1, 2, 5, 40]
  ) throws {
    let input = Net.tensor(shape)
    let floats = try expanded(model)
    let exact = try #require(
      try ReferenceNetwork(model: floats).predict(["in": ReferenceTensor(input)])["out"])
    let largest = exact.elements.reduce(0) { max($0, abs($1)) }
    for set in InstructionSet.allCases where set.isAvailable {
      var first: Tensor?
      for threads in threadCounts {
        func network(_ model: Model) throws -> CompiledNetwork {
          var options = CompileOptions()
          options.instructionSet = set
          options.threads = threads
          options.convolution = .automatic
          options.inputShapes["in"] = shape
          return try CompiledNetwork(model: model, options: options)
        }
        let compressed = try network(model)
        let kernels = compressed.steps.map(\.kernel)
        #expect(kernel.isEmpty || kernels.contains { $0.contains(kernel) }, "\(kernels)")
        let found = try #require(try compressed.predict(["in": input])["out"])
        #expect(first == nil || first == found, "\(set) changes with \(threads) threads")
        first = found
        let plain = try network(floats).predict(["in": input])["out"]
        if isExact {
          #expect(plain == found, "\(set), \(threads) threads")
        } else {
          #expect(relativeError(found, plain) < 1e-5, "\(set), \(threads) threads")
        }
        if threads > 1 { continue }
        for (value, expected) in zip(found.elements, exact.elements) {
          #expect(abs(Double(value) - expected) <= 2e-5 * largest)
        }
      }
    }
  }

  private func dense(_ inputs: Int, _ outputs: Int, _ matrix: Weights) -> InnerProduct {
    var layer = InnerProduct()
    layer.inputChannels = inputs
    layer.outputChannels = outputs
    layer.matrix = matrix
    return layer
  }

  @Test(arguments: 1...8, Storage.allCases) func dense(_ bits: Int, _ storage: Storage) throws {
    if storage == .half && bits > 1 { return }
    let matrix = storage.weights([13, 37], bits: bits, seed: UInt64(bits))
    let layer = Net.layer("dense", dense(37, 13, matrix), "in", "out")
    for batch in [1, 3] {
      try check(
        Net.model([37, 1, 1], [layer]), [1, batch, 37, 1, 1], kernel: "row dot products, ")
    }
    // A factor from a later layer is applied to each expanded row.
    let scaled = [
      Net.layer("dense", dense(37, 13, matrix), "in", "x"),
      Net.layer("n", Net.batchnorm(13), "x", "out"),
    ]
    try check(Net.model([37, 1, 1], scaled), [1, 1, 37, 1, 1], kernel: "row dot products, ")
  }

  /// Kernels that are packed at compile time: ordinary, grouped, depthwise, pointwise, with few
  /// tiles, and transposed. Codes of some stay codes.
  @Test(arguments: [Storage.half, .linear, .linearHalves, .linearOfAll, .table])
  func packedConvolutions(
    _ storage: Storage
  ) throws {
    for (inputs, outputs, kernel, groups, size, keepsCodes) in [
      (5, 7, [3, 3], 1, 12, false), (16, 32, [5, 5], 1, 9, false), (32, 32, [3, 3], 2, 8, false),
      (12, 12, [3, 3], 12, 8, false), (20, 40, [1, 1], 1, 7, false), (6, 6, [3, 3], 3, 6, false),
      (303, 330, [1, 1], 1, 10, true), (330, 303, [1, 1], 1, 3, false),
      (333, 40, [4, 4], 1, 14, true), (160, 288, [5, 3], 2, 14, true),
    ] {
      let shape = [outputs, inputs / groups] + kernel
      let layer = Net.convolution(inputs, outputs, kernel: kernel, groups: groups) {
        $0.kernel = storage.weights(shape, bits: 5, seed: 3)
      }
      let isLabeled = keepsCodes && storage != .half
      try check(
        Net.model([inputs, size, size], [Net.layer("c", layer, "in", "out")]),
        [1, 1, inputs, size, size], kernel: isLabeled ? "×\(kernel[1]), 5-bit" : "")
      // A factor from a later layer is applied to each expanded weight.
      let scaled = [
        Net.layer("c", layer, "in", "x"), Net.layer("n", Net.batchnorm(outputs), "x", "out"),
      ]
      try check(
        Net.model([inputs, size, size], scaled), [1, 1, inputs, size, size],
        kernel: isLabeled ? "5-bit" : "", threadCounts: [1, 3])
    }
    let transposed = Net.convolution(6, 10) {
      $0.isDeconvolution = true
      $0.kernelChannels = 6
      $0.stride = [2, 2]
      $0.kernel = storage.weights([6, 10, 3, 3], channelAxis: 1, bits: 5, seed: 4)
    }
    try check(
      Net.model([6, 5, 5], [Net.layer("c", transposed, "in", "out")]), [1, 1, 6, 5, 5], kernel: "")
  }

  /// Dense layers of many rows, whose results fill blocks or not.
  @Test(arguments: [Storage.linear, .linearHalves, .table]) func rows(_ storage: Storage) throws {
    for (inputs, outputs) in [(37, 13), (64, 48), (1031, 103), (3200, 48)] {
      let matrix = storage.weights([outputs, inputs], bits: 6, seed: 7, factor: 0.2)
      let layer = Net.layer("dense", dense(inputs, outputs, matrix), "in", "out")
      try check(Net.model([inputs, 1, 1], [layer]), [1, 100, inputs, 1, 1], kernel: "linear")
    }
  }

  /// With many channels, codes stay compressed and are expanded panel by panel, even with a factor
  /// from a later layer.
  @Test(arguments: [(Storage.linear, 8), (.linearHalves, 8), (.table, 4)])
  func convolutionsByPanels(_ storage: Storage, _ bits: Int) throws {
    let (inputs, outputs) = (347, 349)
    let layer = Net.convolution(inputs, outputs) {
      $0.kernel = storage.weights([outputs, inputs, 3, 3], bits: bits, seed: 3, factor: 0.1)
    }
    let layers = [
      Net.layer("c", layer, "in", "x"), Net.layer("n", Net.batchnorm(outputs), "x", "out"),
    ]
    let model = Net.model([inputs, 20, 20], layers)
    try check(
      model, [1, 1, inputs, 20, 20], kernel: "Winograd", isExact: false, threadCounts: [1, 5])
    var options = CompileOptions()
    options.threads = 2
    options.convolution = .winograd4
    // One byte per weight, with output channels in whole blocks.
    #expect(
      try CompiledNetwork(model: model, options: options).packedWeightBytes == inputs * 352 * 9)
  }

  /// With so many threads that each takes tiles on its own, the transformed weights are kept, and
  /// the result is the same.
  @Test(arguments: [(Storage.linear, 8), (.linearHalves, 8), (.table, 4)])
  func keptWeightsEqualExpandedOnes(_ storage: Storage, _ bits: Int) throws {
    let layer = Net.convolution(352, 352) {
      $0.kernel = storage.weights([352, 352, 3, 3], bits: bits, seed: 3, factor: 0.1)
    }
    let model = Net.model([352, 40, 40], [Net.layer("c", layer, "in", "out")])
    let input = Net.tensor([1, 1, 352, 40, 40])
    for set in InstructionSet.allCases where set.isAvailable {
      var options = CompileOptions()
      options.instructionSet = set
      options.convolution = .winograd4
      var first: Tensor?
      var sizes: Set<Int> = []
      for threads in [1, 6, 12, 23] {
        options.threads = threads
        let network = try CompiledNetwork(model: model, options: options)
        sizes.insert(network.packedWeightBytes)
        let found = try network.predict(["in": input])["out"]
        #expect(first == nil || first == found, "\(set) changes with \(threads) threads")
        first = found
      }
      #expect(sizes.contains(352 * 352 * 9), "\(set)")
      #expect(sizes.contains { $0 >= 352 * 352 * 36 * 4 }, "\(set)")
    }
  }

  /// Rows of codes of every width as columns of bytes, including those beyond the last row.
  @Test(arguments: 1...8) func codesByColumns(_ bits: Int) throws {
    for (rows, count) in [(3, 9), (8, 16), (11, 27)] {
      var random = SplitMix64(seed: UInt64(bits))
      let codes = (0..<rows * count).map { _ in Int(random.next() >> 32) & ((1 << bits) - 1) }
      let bytes = Bytes(packed(codes, bits: bits))
      let rowCodes = RowCodes(source: bytes, bits: bits, rows: rows, values: .table([]))
      let width = (rows + 7) / 8 * 8
      var columns = [UInt8](repeating: 255, count: count * width)
      for first in stride(from: 0, to: width, by: 8) {
        columns.withUnsafeMutableBufferPointer {
          rowCodes.transpose(
            from: first, count: count, to: $0.baseAddress! + first, stride: width)
        }
      }
      for row in 0..<width {
        for k in 0..<count {
          #expect(Int(columns[k * width + row]) == codes[min(row, rows - 1) * count + k])
        }
      }
    }
  }

  @Test(arguments: Storage.allCases) func embedding(_ storage: Storage) throws {
    var layer = Embedding()
    layer.inputDim = 11
    layer.outputChannels = 5
    layer.matrix = storage.weights([5, 11], bits: 3, seed: 2)
    layer.hasBias = true
    layer.bias = Weights([1, 2, 3, 4, 5])
    let model = Net.model([1], [Net.layer("e", layer, "in", "out")])
    let input = Tensor(shape: [1, 3, 1, 1, 1], [0, 10, 4])
    let found = try Net.predict(model, input)["out"]
    #expect(found != nil)
    #expect(try Net.predict(expanded(model), input)["out"] == found)
  }
}
