import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// Products with codes are bit-for-bit equal to those with the decoded floats.
@Suite struct CodedMatrixTests {
  /// Rows that start at a byte and rows that do not, with more columns than are expanded at once,
  /// and with numbers of rows and vectors that do not fill a group.
  @Test(arguments: availableSets, 1...8) func equalFloats(_ set: InstructionSet, _ bits: Int) {
    for columns in [1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 47, 64, 65, 128, 1030, 2104] {
      for (rows, batch, first) in [(1, 1, 0), (3, 2, 1), (4, 1, 0), (9, 3, 2)] {
        let codes = Codes(bits: bits, count: (first + rows) * columns)
        var generator = SplitMix64(seed: UInt64(columns * 100 + rows))
        let scales = generator.values(rows)
        let biases = generator.values(rows)
        let table = generator.values(1 << bits)
        let input = generator.values(batch * columns)
        let used = codes.codes[(first * columns)...]
        let linear = used.enumerated().map { index, code in
          let row = index / columns
          return Float(Double(scales[row]) * Double(code) + Double(biases[row]))
        }
        for edge in GuardedBuffer.Edge.allCases {
          let (s, b) = (GuardedBuffer(scales, at: edge), GuardedBuffer(biases, at: edge))
          let t = GuardedBuffer(CodeTable.floats(table, bits: bits), at: edge)
          let x = GuardedBuffer(input, at: edge)
          func multiply(_ weights: [UInt8], _ format: WeightFormat, first: Int) -> [Float] {
            let padding = [UInt8](repeating: 0, count: (4 - weights.count % 4) % 4)
            let padded = edge == .end ? padding + weights : weights + padding
            let w = GuardedBuffer(
              padded.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, at: edge)
            let output = GuardedBuffer(count: rows * batch, at: edge)
            set.kernels.dense(
              DenseArguments(
                weights: WeightRows(
                  base: UnsafeRawPointer(w.pointer) + (edge == .end ? padding.count : 0),
                  format: format, first: first, stride: columns), rows: rows, columns: columns,
                input: InputView(x.constant, Strides(row: columns)), batch: batch,
                output: OutputView(output.pointer, Strides(row: rows))))
            return output.values
          }
          func floats(_ values: [Float]) -> [Float] {
            multiply(values.withUnsafeBytes { Array($0) }, .float32, first: 0)
          }
          #expect(
            multiply(
              codes.bytes, .linear(bits: bits, scale: s.constant, bias: b.constant),
              first: first * columns) == floats(linear), "\(set) \(rows) × \(columns)")
          #expect(
            multiply(codes.bytes, .table(bits: bits, t.constant), first: first * columns)
              == floats(used.map { table[$0] }), "\(set) \(rows) × \(columns), table")
        }
      }
    }
  }
}
