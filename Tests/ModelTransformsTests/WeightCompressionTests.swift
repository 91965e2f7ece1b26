import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import ModelTransforms

struct WeightCompressionTests {
  private func random(_ count: Int, seed: UInt64 = 1) -> [Float] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in Float.random(in: -1...1, using: &generator) }
  }

  /// Codes are packed as by coremltools: contiguously, with the highest bit of a code first.
  @Test func codesFollowOneAnother() {
    #expect(
      PackedCodes.pack([1, 2, 3, 0, 3], bits: 2).array(of: UInt8.self) == [
        0b0110_1100, 0b1100_0000,
      ])
    #expect(
      PackedCodes.pack([0b101, 0b011, 0b110], bits: 3).array(of: UInt8.self) == [0b1010_1111, 0])
    #expect(PackedCodes.pack([200, 7], bits: 8).array(of: UInt8.self) == [200, 7])
    #expect(PackedCodes.pack([0b1000001], bits: 7).array(of: UInt8.self) == [0b1000_0010])
  }

  /// scale = (max − min) / (2ᵇ − 1), bias = min; equal values w: scale = w, bias = 0, code = 1.
  @Test func rangeIsTheReferences() throws {
    let weights = try Weights([-1, 0, 2, 5, 5, 5]).compressed(
      to: .codes(bits: 2, .linear), shape: [2, 3], scales: .range)
    #expect(weights.quantization?.kind == .linear(scale: [1, 5], bias: [-1, 0]))
    #expect(weights.rawValue.array(of: UInt8.self) == [0b0001_1101, 0b0101_0000])
    #expect(try weights.values(shape: [2, 3]).array() == [-1, 0, 2, 5, 5, 5])
  }

  /// scale = max |w| / (2ᵇ⁻¹ − 1), bias = −2ᵇ⁻¹ · scale.
  @Test func symmetricRangeIsTheReferences() throws {
    let weights = try Weights([-127, 0, 64]).compressed(
      to: .codes(bits: 8, .linearSymmetric), shape: [1, 3], scales: .range)
    #expect(weights.quantization?.kind == .linear(scale: [1], bias: [-128]))
    #expect(weights.rawValue.array(of: UInt8.self) == [1, 128, 192])
  }

  /// A deconvolution's channels are along the second axis.
  @Test func channelsOfTheSecondAxis() throws {
    let values: [Float] = [0, 3, 10, 40, 3, 0, 40, 10]
    let weights = try Weights(values).compressed(
      to: .codes(bits: 1, .linear), shape: [2, 2, 2], channelAxis: 1, scales: .range)
    #expect(weights.quantization?.kind == .linear(scale: [3, 30], bias: [0, 10]))
    #expect(try weights.values(shape: [2, 2, 2], channelAxis: 1).array() == values)
  }

  @Test(arguments: 1...8) func leastSquaresLoseLess(_ bits: Int) throws {
    let values = Weights(random(4 * 1000).map { $0 * $0 * $0 })
    let before = try values.values(shape: [4, 1000])
    for mode in [CodeMode.linear, .linearSymmetric] {
      let errors = try ScaleChoice.allCases.map { scales in
        let found = try values.compressed(
          to: .codes(bits: bits, mode), shape: [4, 1000], scales: scales)
        return try CompressionError(before, found.values(shape: [4, 1000])).squaredError
      }
      #expect(errors[1] <= errors[0] * (1 + 1e-5), "\(mode)")
      if bits <= 4 { #expect(errors[1] < errors[0] * 0.9, "\(mode)") }
    }
  }

  /// One distant value would leave a single table entry for nearly all others.
  @Test(arguments: 1...5) func evenTableOfLeastSquares(_ bits: Int) throws {
    let values = Weights(random(999) + [40])
    let before = try values.values(shape: [4, 250])
    let errors = try ScaleChoice.allCases.map { scales in
      let found = try values.compressed(
        to: .codes(bits: bits, .linearTable), shape: [4, 250], scales: scales)
      guard case .lookupTable(let table)? = found.quantization?.kind else { return Double.nan }
      let steps = zip(table, table.dropFirst()).map { $1 - $0 }
      #expect(steps.allSatisfy { abs($0 - steps[0]) < 1e-4 * abs(steps[0]) })
      return try CompressionError(before, found.values(shape: [4, 250])).squaredError
    }
    #expect(errors[1] < errors[0] * 0.8, "\(errors)")
  }

  /// Every value gets the nearest entry of the table, whatever the order of the table.
  @Test(arguments: 1...8) func nearestEntries(_ bits: Int) throws {
    let values = random(1001, seed: 3)
    let table = random(1 << bits, seed: 4)
    for mode in [CodeMode.table(table), .linearTable, .kMeansTable] {
      let weights = try Weights(values).compressed(
        to: .codes(bits: bits, mode), shape: [7, 143])
      guard case .lookupTable(let used)? = weights.quantization?.kind else {
        Issue.record("no table")
        continue
      }
      if case .table = mode { #expect(used == table) }
      #expect(weights.rawValue.count == (1001 * bits + 7) / 8)
      for (value, found) in zip(values, try weights.values(shape: [7, 143]).array()) {
        let nearest = used.map { abs(Double($0) - Double(value)) }.min() ?? 0
        #expect(abs(Double(found) - Double(value)) == nearest)
      }
    }
  }

  @Test func evenTable() throws {
    let weights = try Weights([-1, 0.9, 2]).compressed(
      to: .codes(bits: 2, .linearTable), shape: [1, 3], scales: .range)
    #expect(weights.quantization?.kind == .lookupTable([-1, 0, 1, 2]))
    #expect(try weights.values(shape: [1, 3]).array() == [-1, 1, 2])
  }

  @Test func valuesWithoutACode() {
    for value in [Float.nan, .infinity] {
      #expect(throws: ModelError.self) {
        try Weights([1, value]).compressed(to: .codes(bits: 8, .linear), shape: [1, 2])
      }
    }
  }

  /// 6e38, the range of the values, exceeds the largest float, 3.4e38: no scale of one bit can span it,
  /// nor can a network, which adds the bias to the product. A program subtracts the offset first.
  @Test func rangesBeyondSinglePrecision() throws {
    let weights = Weights([-3e38, 0, 3e38])
    func compressed(_ bits: Int, _ mode: CodeMode, _ type: MILDataType? = nil) throws -> Weights {
      try weights.compressed(
        to: .codes(bits: bits, mode), shape: [1, 3], scales: .range, type: type)
    }
    for mode in [CodeMode.linear, .linearTable] {
      let error = modelError { try compressed(1, mode) }
      #expect(error?.message.contains("codes of 1 bit in single precision") == true)
    }
    #expect(throws: ModelError.self) { try compressed(8, .linear) }
    #expect(try compressed(8, .linear, .float32).quantization != nil)
  }
}
