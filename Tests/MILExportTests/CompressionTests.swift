import CoreMLModel
import MILImport
import ModelTransforms
import TensorCore
import Testing

@testable import MILExport

/// Compressed weights of programs. Their decoded values are derived in each test.
@Suite struct CompressionTests {
  private static func rules(_ bits: Int, _ mode: CodeMode) -> ProgramCompressionRules {
    ProgramCompressionRules(CompressionRules(.codes(bits: bits, mode)))
  }

  /// The rows of the weight, which are the outputs for unit vectors.
  private static func weights(_ program: Model, inputs: Int, outputs: Int) throws -> [Float] {
    var columns: [[Float]] = []
    for index in 0..<inputs {
      columns.append(
        try Networks.predict(program, [inputs], (0..<inputs).map { $0 == index ? 1 : 0 }))
    }
    return (0..<outputs).flatMap { row in columns.map { $0[row] } }
  }

  /// Two values in a group are the entries of a 1-bit table; a table for all has only two of four.
  @Test func groupsHaveTablesOfTheirOwn() throws {
    let values: [Float] = [1, 3, 3, 1, 1, 3, -5, 10, 10, -5, -5, 10]
    let program = try Networks.product(values, outputs: 4).mlProgram()
    var rules = Self.rules(1, .kMeansTable)
    rules.groupSize = 2
    let (grouped, entries) = try program.compressedProgram(rules)
    #expect(try Self.weights(grouped, inputs: 3, outputs: 4) == values)
    #expect(entries.map(\.storage) == ["1 bit, table"])
    #expect(Networks.operations(grouped).contains("constexpr_lut_to_dense"))
    #expect(grouped.specificationVersion == 9)
    rules.groupSize = nil
    let (single, _) = try program.compressedProgram(rules)
    #expect(try Self.weights(single, inputs: 3, outputs: 4) != values)
    #expect(single.specificationVersion == 7)
  }

  /// Two values in a block become the smallest and the largest code.
  @Test func blocksHaveScalesOfTheirOwn() throws {
    let values: [Float] = [0.5, -2, 100, 300, 7, 8, -0.25, 0]
    let program = try Networks.product(values, outputs: 2).mlProgram()
    var rules = Self.rules(4, .linear)
    rules.groupSize = 2
    let (blocks, entries) = try program.compressedProgram(rules)
    let found = try Self.weights(blocks, inputs: 4, outputs: 2)
    for (a, b) in zip(found, values) { #expect(abs(a - b) <= 1e-5 * max(1, abs(b))) }
    #expect(entries.map(\.storage) == ["4 bits, linear"])
    #expect(Networks.operations(blocks).contains("constexpr_blockwise_shift_scale"))
  }

  /// The four smallest of eight values become 0.
  @Test(arguments: [ProgramTarget.iOS16, .iOS18])
  func smallValuesAreLeftOut(target: ProgramTarget) throws {
    let values: [Float] = [5, -1, 2, -8, 7, 3, -4, 6]
    var options = ProgramOptions()
    options.target = target
    let program = try Networks.product(values, outputs: 2).mlProgram(options)
    var rules = ProgramCompressionRules(CompressionRules(.float16))
    rules.sparsity = 0.5
    let (sparse, _) = try program.compressedProgram(rules)
    #expect(try Self.weights(sparse, inputs: 4, outputs: 2) == [5, 0, 0, -8, 7, 0, 0, 6])
    #expect(Networks.operations(sparse).contains("constexpr_sparse_to_dense"))
  }

  /// 0.1 is 0.0999755859375 in half precision.
  @Test func halfPrecision() throws {
    let program = try Networks.product([0.1, 1, 2, 0.1], outputs: 2).mlProgram()
    let (half, entries) = try program.compressedProgram(
      ProgramCompressionRules(CompressionRules(.float16)))
    #expect(
      try Self.weights(half, inputs: 2, outputs: 2) == [0.0999755859375, 1, 2, 0.0999755859375])
    #expect(entries.map(\.storage) == ["float16"])
  }

  /// A network's codes, which are compared with coremltools, equal a program's. In a program, the
  /// ends of a range with an offset move by less than its 4000th part, so that products of scale and
  /// offset are exact.
  @Test(arguments: [CodeMode.linear, .linearSymmetric, .linearTable, .kMeansTable], [2, 4, 8])
  func codesAreThoseOfNetworks(mode: CodeMode, bits: Int) throws {
    let values = (0..<60).map { Float(($0 * 37) % 61) / 7 - 3 }
    let network = Networks.product(values, outputs: 5)
    let (compressed, _) = try network.compressed(CompressionRules(.codes(bits: bits, mode)))
    let expected = try Self.weights(compressed, inputs: 12, outputs: 5)
    let (program, _) = try network.mlProgram().compressedProgram(Self.rules(bits, mode))
    let upgraded = try compressed.mlProgram()
    let (least, largest) = (expected.min() ?? 0, expected.max() ?? 0)
    let ends = mode == .linear ? (largest - least) / 4000 : 0
    for (model, moved) in [(program, ends), (upgraded, 0)] {
      let found = try Self.weights(model, inputs: 12, outputs: 5)
      for (a, b) in zip(found, expected) { #expect(abs(a - b) <= moved + 1e-6 * max(1, abs(b))) }
      #expect(Networks.operations(model).contains { $0.hasPrefix("constexpr_") })
    }
  }

  /// Other codes would be expanded to floats when the program is loaded.
  @Test(arguments: [4, 8])
  func channelsAreComputedFromCodes(bits: Int) throws {
    let values = (0..<60).map { Float(($0 * 37) % 61) / 7 }
    let (program, _) = try Networks.product(values, outputs: 5).mlProgram()
      .compressedProgram(Self.rules(bits, .linear))
    let network = try #require(try program.programNetwork()?.model.neuralNetwork)
    let matrices = network.layers.compactMap { ($0.parameters as? BatchedMatMul)?.matrix }
    guard case .linear(let scale, let bias)? = matrices.first?.quantization?.kind else {
      Issue.record("the matrix has no linear codes")
      return
    }
    #expect(scale.count == 5)
    #expect(zip(scale, bias).allSatisfy { $0 > 0 && $1 != 0 })
  }

  @Test func groupsMustDivideTheChannels() throws {
    let program = try Networks.product([1, 2, 3, 4, 5, 6], outputs: 3).mlProgram()
    var rules = Self.rules(4, .kMeansTable)
    rules.groupSize = 2
    let error = #expect(throws: ModelError.self) { try program.compressedProgram(rules) }
    #expect(error?.code == .mismatch)
  }
}
