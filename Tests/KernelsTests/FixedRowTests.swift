import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct FixedRowTests {
  /// A packed row, decoded by scalar code.
  private struct Packed {
    var summary: FixedRowSummary
    var bytes: [UInt8]

    init(
      _ kernels: any KernelTable.Type, _ row: [Float], edge: GuardedBuffer.Edge = .end,
      misaligned: Int = 0
    ) {
      // The row's bytes away from the edge, extended to whole floats.
      var source = row.withUnsafeBytes { Array($0) }
      let slack = [UInt8](repeating: 0, count: (4 - misaligned) % 4)
      source = edge == .end ? slack + source : [UInt8](repeating: 0, count: misaligned) + source
      source += [UInt8](repeating: 0, count: (4 - source.count % 4) % 4)
      let offset = edge == .end ? slack.count : misaligned
      let floats = source.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
      let from = GuardedBuffer(floats, at: edge)
      let count = FixedRow.paddedColumns(row.count) * FixedRow.bytesPerColumn
      let to = GuardedBuffer(count: count / 4, at: edge)
      summary = kernels.packFixedRow(
        UnsafeRawPointer(from.pointer) + offset, columns: row.count,
        to: UnsafeMutableRawPointer(to.pointer))
      bytes = Array(UnsafeRawBufferPointer(start: to.pointer, count: count))
    }

    /// The codes as `FixedRow` defines them, including those that pad the last block.
    var codes: [Int] {
      (0..<bytes.count / 3).map { k in
        let block = k / 64 * 192
        let high = block + 2 * (k % 64)
        let low = Int(bytes[block + 128 + k % 64])
        return (Int(Int8(bitPattern: bytes[high + 1])) << 8 | Int(bytes[high])) << 8 | low
      }
    }
  }

  private static let lengths = [1, 2, 3, 7, 8, 15, 17, 31, 33, 63, 64, 65, 127, 128, 129, 1000]

  /// Codes are nearest to the values, at any position of the row; the scale is the largest power of
  /// two that leaves 23 bits for the largest value.
  @Test(arguments: availableSets) func codesAreNearest(_ set: InstructionSet) {
    for (index, columns) in Self.lengths.enumerated() {
      var generator = SplitMix64(seed: UInt64(columns))
      let size = Float(sign: .plus, exponent: index * 15 - 100, significand: 1)
      let row = generator.values(columns).map { $0 * size }
      let largest = row.map(abs).max() ?? 0
      for (edge, misaligned) in [(GuardedBuffer.Edge.end, 0), (.begin, 0), (.begin, 1)] {
        let packed = Packed(set.kernels, row, edge: edge, misaligned: misaligned)
        let scale = packed.summary.scale
        #expect(scale == Float(sign: .plus, exponent: largest.exponent - 22, significand: 1))
        #expect(scale <= largest * 0x1p-22)
        let codes = packed.codes
        #expect(codes[columns...].allSatisfy { $0 == 0 })
        for (weight, code) in zip(row, codes) {
          #expect(abs(Double(weight) / Double(scale) - Double(code)) <= 0.5, "\(set) \(columns)")
        }
        let mean = row.reduce(0) { $0 + abs(Double($1)) } / Double(columns)
        // The mean may be off by 256 scales.
        let least = Double(largest) / mean
        let most = Double(largest) / (mean - 257 * Double(scale))
        #expect((least * (1 - 1e-6)...most).contains(packed.summary.peak))
      }
    }
  }

  /// Packing is bit-for-bit equal, so that the same rows are packed.
  @Test func everyInstructionSetPacksAlike() {
    for columns in Self.lengths {
      var generator = SplitMix64(seed: UInt64(columns))
      let row = generator.values(columns).map { $0 * $0 * $0 }
      let first = Packed(InstructionSet.baseline.kernels, row)
      for set in availableSets {
        let other = Packed(set.kernels, row)
        #expect(other.bytes == first.bytes && other.summary == first.summary, "\(set)")
      }
    }
  }

  /// The ends of the range of codes, ties, zeros of both signs, and values near the limits.
  @Test(arguments: availableSets) func extremes(_ set: InstructionSet) {
    func codes(_ row: [Float]) -> [Int] { Array(Packed(set.kernels, row).codes.prefix(row.count)) }
    let below = Float(2).nextDown
    #expect(codes([below, 0x1p-23]) == [0x7f_ffff, 0])
    #expect(codes([-below, 0x1.8p-22]) == [-0x80_0000, 2])
    #expect(codes([1, 0x1p-23, 0x1.8p-22, -0x1.4p-21]) == [0x40_0000, 0, 2, -2])
    #expect(codes([.greatestFiniteMagnitude, 0x1p105, -0x1p106]) == [0x7f_ffff, 1, -2])
    #expect(codes([0x1p-104, .leastNormalMagnitude]) == [0x40_0000, 1])
    let zeros = Packed(set.kernels, [0, -0, 0])
    #expect(zeros.summary == FixedRowSummary(scale: 0, peak: 0))
    #expect(zeros.bytes.allSatisfy { $0 == 0 })
  }

  /// Values at any position among the lanes.
  @Test(arguments: availableSets) func rowsThatAreNotPacked(_ set: InstructionSet) {
    for bad in [Float.nan, -.nan, .infinity, -.infinity] {
      for place in 0..<37 {
        var row = [Float](repeating: 1, count: 37)
        row[place] = bad
        #expect(Packed(set.kernels, row).summary.scale.isNaN)
      }
    }
    #expect(Packed(set.kernels, [0x1p-105, 0]).summary.scale.isNaN)
    #expect(Packed(set.kernels, [.leastNonzeroMagnitude]).summary.scale.isNaN)
  }

  /// A matrix with packed rows for the dense-layer kernel.
  private struct Matrix {
    var rows: Int
    var columns: Int
    var weights: [Float]
    var packed: [Packed]

    init(_ kernels: any KernelTable.Type, rows: Int, columns: Int, weights: [Float]) {
      self.rows = rows
      self.columns = columns
      self.weights = weights
      packed = (0..<rows).map {
        Packed(kernels, Array(weights[$0 * columns..<($0 + 1) * columns]))
      }
    }

    /// The decoded values.
    var decoded: [Float] {
      packed.flatMap { row in
        row.codes.prefix(columns).map { Float($0) * row.summary.scale }
      }
    }

    func multiply(
      _ kernels: any KernelTable.Type, _ input: [Float], batch: Int, edge: GuardedBuffer.Edge
    ) -> [Float] {
      let bytes = packed.flatMap(\.bytes)
      let w = GuardedBuffer(
        bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, at: edge)
      let scales = GuardedBuffer(packed.map(\.summary.scale), at: edge)
      let x = GuardedBuffer(input, at: edge)
      let output = GuardedBuffer(count: rows * batch, at: edge)
      let stride = FixedRow.paddedColumns(columns)
      // The rows from the second on are computed separately, like those of another thread.
      for part in [0..<min(1, rows), min(1, rows)..<rows] where !part.isEmpty {
        kernels.dense(
          DenseArguments(
            weights: WeightRows(
              base: UnsafeRawPointer(w.pointer),
              format: .fixed(scale: scales.constant + part.lowerBound),
              first: part.lowerBound * stride, stride: stride), rows: part.count, columns: columns,
            input: InputView(x.constant, Strides(row: columns)), batch: batch,
            output: OutputView(output.pointer + part.lowerBound, Strides(row: rows))))
      }
      return output.values
    }
  }

  private func floats(
    _ kernels: any KernelTable.Type, _ weights: [Float], _ input: [Float], rows: Int, batch: Int
  ) -> [Float] {
    let columns = weights.count / rows
    var output = [Float](repeating: .nan, count: rows * batch)
    kernels.dense(
      DenseArguments(
        weights: WeightRows(base: weights, stride: columns), rows: rows, columns: columns,
        input: InputView(input, Strides(row: columns)), batch: batch,
        output: OutputView(&output, Strides(row: rows))))
    return output
  }

  /// Products are bit-for-bit equal to those with the decoded floats, and differ from the exact
  /// ones by at most the rounding of the sum and the codes:
  ///
  ///     |y − Σ w x| ≤ (n/8 + 7) · 2⁻²⁴ · Σ |w x| + scale/2 · Σ |x|
  ///
  /// With the fewest lanes, two times four, each lane sums n/8 products, which are rounded twice
  /// without fused multiply-add: then 2n/8 + 7.
  @Test(arguments: availableSets) func products(_ set: InstructionSet) {
    for columns in Self.lengths {
      for (rows, batch) in [(1, 1), (2, 2), (3, 3), (4, 1), (5, 2), (9, 1), (9, 3)] {
        var generator = SplitMix64(seed: UInt64(columns * 10 + rows))
        let weights = generator.values(rows * columns)
        let input = generator.values(batch * columns)
        let matrix = Matrix(set.kernels, rows: rows, columns: columns, weights: weights)
        let expected = floats(set.kernels, matrix.decoded, input, rows: rows, batch: batch)
        for edge in GuardedBuffer.Edge.allCases {
          let found = matrix.multiply(set.kernels, input, batch: batch, edge: edge)
          #expect(found == expected, "\(set) \(rows) × \(columns), \(batch)")
        }
        for (index, value) in expected.enumerated() {
          let (image, row) = index.quotientAndRemainder(dividingBy: rows)
          var (sum, size, inputs) = (0.0, 0.0, 0.0)
          for k in 0..<columns {
            let x = Double(input[image * columns + k])
            let product = Double(weights[row * columns + k]) * x
            sum += product
            size += abs(product)
            inputs += abs(x)
          }
          let rounding = Double(columns / 4 + 7) * 0x1p-24 * size
          let codes = Double(matrix.packed[row].summary.scale) / 2 * inputs
          #expect(abs(Double(value) - sum) <= (rounding + codes) * (1 + 1e-6), "\(set) \(columns)")
        }
      }
    }
  }

  /// Weights with at most 23 bits below the leading bit of the largest weight are exact.
  @Test(arguments: availableSets) func halvesAreExact(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 5)
    let weights = generator.values(6 * 200).map { Float(Float16($0 * 4)) }
      .map { abs($0) < 0x1p-8 ? 0 : $0 }
    let input = generator.values(200)
    let matrix = Matrix(set.kernels, rows: 6, columns: 200, weights: weights)
    #expect(
      matrix.multiply(set.kernels, input, batch: 1, edge: .end)
        == floats(set.kernels, weights, input, rows: 6, batch: 1))
  }
}
