import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Layers just large enough for `FixedRowMatrix`. With three vectors, the same layers read floats.
@Suite struct FixedRowMatrixTests {
  private typealias Net = TestNetwork

  private static let inputs = 4096
  private static let outputs = 977
  private static let sets = InstructionSet.allCases.filter(\.isAvailable)

  private func network(
    _ weights: [Float], vectors: Int, _ set: InstructionSet, threads: Int = 2,
    isTransposed: Bool = false
  ) throws -> CompiledNetwork {
    var random = SplitMix64(seed: 9)
    var layer = InnerProduct()
    layer.inputChannels = Self.inputs
    layer.outputChannels = weights.count / Self.inputs
    layer.matrix = Weights(isTransposed ? Self.transposed(weights) : FloatValues(weights))
    layer.hasBias = true
    layer.bias = Weights(random.values(layer.outputChannels))
    var options = CompileOptions()
    options.instructionSet = set
    options.threads = threads
    options.inputShapes["in"] = [1, vectors, Self.inputs, 1, 1]
    let model = Net.model([Self.inputs, 1, 1], [Net.layer("dense", layer, "in", "out")])
    return try CompiledNetwork(model: model, options: options)
  }

  /// The weights with each input's values adjacent, as after flattening an image of 4 × 16 pixels
  /// and 64 channels: the file has channels last.
  private static func transposed(_ weights: [Float]) -> FloatValues {
    let outputs = weights.count / inputs
    var stored = weights
    for output in 0..<outputs {
      for input in 0..<inputs {
        let (channel, pixel) = (input / 64, input % 64)
        stored[(pixel * 64 + channel) * outputs + output] = weights[output * inputs + input]
      }
    }
    return FloatValues(stored).shaped([4, 16, 64, outputs]).transposed([3, 2, 0, 1])
  }

  private func predict(
    _ weights: [Float], _ input: [Float], _ set: InstructionSet, threads: Int = 2
  ) throws -> [Float] {
    let vectors = input.count / Self.inputs
    let network = try network(weights, vectors: vectors, set, threads: threads)
    let packed = FixedRow.paddedColumns(Self.inputs) * 3 * weights.count / Self.inputs
    #expect(network.packedWeightBytes == (vectors < 3 ? packed : 0))
    #expect(network.steps.contains { $0.kernel.hasSuffix("24-bit rows") } == (vectors < 3))
    let tensor = Tensor(shape: [1, vectors, Self.inputs, 1, 1], input)
    // The first prediction packs the rows as it reads them, the second packs all.
    let first = try #require(try network.predict(["in": tensor])["out"]).elements
    for _ in 0..<2 {
      let next = try #require(try network.predict(["in": tensor])["out"]).elements
      #expect(next.map(\.bitPattern) == first.map(\.bitPattern))
    }
    let alone = try #require(try network.predictOnOneThread(["in": tensor])["out"]).elements
    #expect(alone.map(\.bitPattern) == first.map(\.bitPattern))
    return first
  }

  /// The outputs for one vector, from a layer that reads floats.
  private func predictWithFloats(
    _ weights: [Float], _ input: [Float], _ set: InstructionSet
  ) throws -> [Float] {
    let all = try predict(weights, input + input + input, set)
    return Array(all.prefix(weights.count / Self.inputs))
  }

  /// The RMS of many outputs' errors is the square root of the sum of two variances. For uniform
  /// weights and inputs, the variance of the codes, from a step of 2⁻²³ over √12, is at most that
  /// of the sum; a factor of 1.5 allows for it.
  @Test(arguments: sets) func errorsStayWithinThoseOfSums(_ set: InstructionSet) throws {
    var random = SplitMix64(seed: 3)
    // Weights in −1...1 would be whole multiples of 2⁻²³, which the codes represent exactly.
    let weights = random.values(Self.outputs * Self.inputs, in: -0.7...0.7)
    let input = random.values(Self.inputs)
    var bias = SplitMix64(seed: 9)
    let exact = bias.values(Self.outputs).enumerated().map { row, bias in
      (0..<Self.inputs).reduce(Double(bias)) {
        $0 + Double(weights[row * Self.inputs + $1]) * Double(input[$1])
      }
    }
    func error(_ found: [Float]) -> Double {
      let squares = zip(found, exact).map { (Double($0) - $1) * (Double($0) - $1) }
      return (squares.reduce(0, +) / Double(found.count)).squareRoot()
    }
    let found = try predict(weights, input, set)
    let floats = try predictWithFloats(weights, input, set)
    #expect(found != floats)
    #expect(error(found) <= 1.5 * error(floats), "\(set): \(error(found)), \(error(floats))")
    #expect(try predict(weights, input + input, set) == found + found)
    for threads in [1, 3, 7] {
      #expect(try predict(weights, input, set, threads: threads) == found, "\(threads) threads")
    }
  }

  /// Rows of zeros and of weights with few digits are exact. Rows that would lose too much, and
  /// rows with values that are not finite, are read as floats, whether first, last or in between.
  @Test(arguments: sets) func rowsThatStayFloats(_ set: InstructionSet) throws {
    var random = SplitMix64(seed: 4)
    var weights = random.values(Self.outputs * Self.inputs).map { Float(Float16($0 + 2)) }
    let input = random.values(Self.inputs)
    func change(_ row: Int, _ edit: (inout ArraySlice<Float>) -> Void) {
      edit(&weights[row * Self.inputs..<(row + 1) * Self.inputs])
    }
    for row in [0, 7, 8, 300, Self.outputs - 1] {
      let values = random.values(Self.inputs)
      change(row) {
        $0.replaceSubrange($0.indices, with: values)
        // The mean of the other weights is 1/2.
        $0[$0.startIndex + row] = 17
      }
    }
    change(20) { $0[$0.startIndex + 11] = .nan }
    change(21) { $0[$0.endIndex - 1] = .infinity }
    change(22) { for index in $0.indices { $0[index] = 0 } }
    change(23) { for index in $0.indices { $0[index] *= 0x1p-120 } }
    let found = try predict(weights, input, set)
    let floats = try predictWithFloats(weights, input, set)
    let transposed = try network(weights, vectors: 1, set, isTransposed: true)
    let tensor = Tensor(shape: [1, 1, Self.inputs, 1, 1], input)
    let copied = try #require(try transposed.predict(["in": tensor])["out"]).elements
    #expect(copied.map(\.bitPattern) == found.map(\.bitPattern))
    #expect(found[20].isNaN && found[21].isInfinite)
    #expect(found.map(\.bitPattern) == floats.map(\.bitPattern))
    // With one outlier fewer, the row is packed.
    change(7) { $0[$0.startIndex + 7] = 1 }
    let packed = try predict(weights, input, set)
    #expect(packed[7] != (try predictWithFloats(weights, input, set))[7])
    #expect(packed[8] == found[8])
  }

  @Test func smallLayersStayFloats() throws {
    let rows = 4_000_000 / Self.inputs
    let weights = [Float](repeating: 1, count: rows * Self.inputs)
    let network = try network(weights, vectors: 1, .baseline)
    #expect(network.packedWeightBytes == 0)
    #expect(network.steps.contains { $0.kernel == "row dot products" })
  }

  /// Two layers of 2.1 million weights exceed the limit only together. The errors of both stay
  /// within those of single-precision sums.
  @Test(arguments: sets) func smallMatricesCountTogether(_ set: InstructionSet) throws {
    let sizes = [1024, 2048, 1024]
    var random = SplitMix64(seed: 5)
    let matrices = (0..<2).map { random.values(sizes[$0] * sizes[$0 + 1], in: -0.1...0.1) }
    let input = random.values(sizes[0])
    func network(_ layers: Range<Int>, vectors: Int) throws -> CompiledNetwork {
      var options = CompileOptions()
      options.instructionSet = set
      options.threads = 2
      options.inputShapes["in"] = [1, vectors, sizes[layers.lowerBound], 1, 1]
      return try CompiledNetwork(
        model: Net.model(
          [sizes[layers.lowerBound], 1, 1],
          layers.map { index in
            var layer = InnerProduct()
            (layer.inputChannels, layer.outputChannels) = (sizes[index], sizes[index + 1])
            layer.matrix = Weights(matrices[index])
            return Net.layer(
              "dense\(index)", layer, index == layers.lowerBound ? "in" : "middle",
              index + 1 == layers.upperBound ? "out" : "middle")
          }), options: options)
    }
    func packedSteps(_ network: CompiledNetwork) -> Int {
      network.steps.count { $0.kernel.hasSuffix("24-bit rows") }
    }
    let both = try network(0..<2, vectors: 1)
    #expect(packedSteps(both) == 2)
    for layer in 0..<2 { #expect(packedSteps(try network(layer..<layer + 1, vectors: 1)) == 0) }
    let three = try network(0..<2, vectors: 3)
    #expect(packedSteps(three) == 0)

    let exact = (0..<2).reduce(input.map(Double.init)) { values, layer in
      (0..<sizes[layer + 1]).map { row in
        values.indices.reduce(0.0) { sum, column in
          sum + Double(matrices[layer][row * values.count + column]) * values[column]
        }
      }
    }
    func error(_ network: CompiledNetwork, vectors: Int) throws -> Double {
      let values = Array(repeating: input, count: vectors).flatMap { $0 }
      let found = try #require(
        try network.predict(["in": Tensor(shape: [1, vectors, sizes[0], 1, 1], values)])["out"])
      let squares = zip(found.elements, exact).map { (Double($0) - $1) * (Double($0) - $1) }
      return (squares.reduce(0, +) / Double(squares.count)).squareRoot()
    }
    #expect(try error(both, vectors: 1) <= 1.5 * error(three, vectors: 3))
  }
}
