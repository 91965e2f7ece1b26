import LibC
import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct MatrixTests {
  struct Dense {
    var rows: Int
    var columns: Int
    var batch = 1
    var weights: [Float]
    var input: [Float]
    var bias: [Float]

    init(rows: Int, columns: Int, batch: Int = 1) {
      var generator = SplitMix64(seed: UInt64(rows * 1000 + columns))
      self.rows = rows
      self.columns = columns
      self.batch = batch
      weights = generator.values(rows * columns).map { Float(Float16($0)) }
      input = generator.values(batch * columns)
      bias = generator.values(rows)
    }

    var exact: [(Double, Double)] {
      (0..<batch * rows).map { index in
        let (n, row) = index.quotientAndRemainder(dividingBy: rows)
        var sum = Double(bias[row])
        var size = abs(sum)
        for k in 0..<columns {
          let product = Double(weights[row * columns + k]) * Double(input[n * columns + k])
          sum += product
          size += abs(product)
        }
        return (sum, size)
      }
    }

    func compute(
      _ kernels: any KernelTable.Type, _ format: WeightFormat, range: Range<Int>? = nil,
      misaligned: Int = 0,
      edge: GuardedBuffer.Edge = .end, epilogue: Epilogue = Epilogue()
    ) -> [Float] {
      let range = range ?? 0..<rows
      var bytes = [UInt8](repeating: 0, count: misaligned)
      for weight in weights {
        switch format {
        case .float32: withUnsafeBytes(of: weight) { bytes += $0 }
        case .float16: withUnsafeBytes(of: Float16(weight)) { bytes += $0 }
        case .linear, .table, .fixed: preconditionFailure("see CodedMatrixTests, FixedRowTests")
        }
      }
      // Padded at the start, so that the last weight is adjacent to the page.
      let front = (4 - bytes.count % 4) % 4
      bytes.insert(contentsOf: [UInt8](repeating: 0, count: front), at: 0)
      let padded = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
      let w = GuardedBuffer(padded, at: edge)
      let x = GuardedBuffer(input, at: edge)
      let b = GuardedBuffer(Array(bias[range]), at: edge)
      let y = GuardedBuffer(count: range.count * batch, at: edge)
      let elementSize = format.isSingle ? 4 : 2
      var epilogue = epilogue
      epilogue.bias = b.constant
      kernels.dense(
        DenseArguments(
          weights: WeightRows(
            base: UnsafeRawPointer(w.pointer)
              + (front + misaligned + range.lowerBound * columns * elementSize),
            format: format, stride: columns), rows: range.count, columns: columns,
          input: InputView(x.constant, Strides(row: columns)), batch: batch,
          output: OutputView(y.pointer, Strides(row: range.count)), epilogue: epilogue))
      return y.values
    }
  }

  @Test(arguments: availableSets) func denseOfEverySize(_ set: InstructionSet) {
    for size in 1...67 {
      let dense = Dense(rows: 1 + size % 11, columns: size, batch: 1 + size % 4)
      for format in [WeightFormat.float32, .float16] {
        for misaligned in [0, 1, 2, 3] {
          for edge in GuardedBuffer.Edge.allCases {
            let found = dense.compute(set.kernels, format, misaligned: misaligned, edge: edge)
            expectClose(found, dense.exact, "\(set) \(format) \(size) \(misaligned)")
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func denseRowsDoNotDependOnTheirCall(_ set: InstructionSet) {
    let dense = Dense(rows: 23, columns: 301)
    for format in [WeightFormat.float32, .float16] {
      let whole = dense.compute(set.kernels, format)
      for cut in 1..<23 {
        let parts =
          dense.compute(set.kernels, format, range: 0..<cut)
          + dense.compute(set.kernels, format, range: cut..<23)
        #expect(parts == whole)
      }
    }
    var batch = dense
    batch.batch = 5
    batch.input = (0..<5).flatMap { _ in dense.input }
    let one = dense.compute(set.kernels, .float32)
    #expect(batch.compute(set.kernels, .float32) == (0..<5).flatMap { _ in one })
  }

  @Test(arguments: availableSets) func denseActivations(_ set: InstructionSet) {
    let dense = Dense(rows: 9, columns: 17)
    let plain = dense.compute(set.kernels, .float32)
    let slopes = (0..<9).map { 0.1 * Float($0) }
    #expect(
      dense.compute(set.kernels, .float32, epilogue: Epilogue(activation: .relu))
        == plain.map { $0 < 0 ? 0 : $0 })
    #expect(
      dense.compute(
        set.kernels, .float32, epilogue: Epilogue(activation: .clip(lower: -0.5, upper: 0.5)))
        == plain.map { min(max($0, -0.5), 0.5) })
    #expect(
      dense.compute(set.kernels, .float32, epilogue: Epilogue(activation: .leaky(0.25)))
        == plain.map { $0 < 0 ? $0 * 0.25 : $0 })
    slopes.withUnsafeBufferPointer {
      #expect(
        dense.compute(
          set.kernels, .float32, epilogue: Epilogue(activation: .prelu($0.baseAddress!)))
          == zip(plain, slopes).map { $0 < 0 ? $0 * $1 : $0 })
    }
  }

  /// Every half-precision value, compared with the compiler's conversion.
  @Test(arguments: availableSets) func everyHalf(_ set: InstructionSet) {
    let halves = (0...UInt16.max).map { $0 }
    var found = [Float](repeating: 0, count: halves.count)
    let one: [Float] = [1]
    halves.withUnsafeBytes { bytes in
      set.kernels.dense(
        DenseArguments(
          weights: WeightRows(base: bytes.baseAddress!, format: .float16, stride: 1),
          rows: halves.count, columns: 1, input: InputView(one), output: OutputView(&found)))
    }
    for (half, value) in zip(halves, found) {
      let exact = Float(Float16(bitPattern: half))
      #expect(exact.isNaN ? value.isNaN : value == exact, "\(set) \(half)")
    }
  }

  /// Rows in one call, and in two calls, the second of which accumulates.
  @Test(arguments: availableSets) func combinedRows(_ set: InstructionSet) {
    for columns in Array(1...37) + [64, 80, 131, 200] {
      let count = 1 + columns % 9
      let stride = columns + columns % 3
      var generator = SplitMix64(seed: UInt64(columns))
      let rows = generator.values((count - 1) * stride + columns)
      let factors = generator.values(count)
      let exact = (0..<columns).map { column in
        (0..<count).reduce((0.0, 0.0)) { sum, row in
          let product = Double(factors[row]) * Double(rows[row * stride + column])
          return (sum.0 + product, sum.1 + abs(product))
        }
      }
      for edge in GuardedBuffer.Edge.allCases {
        let (r, f) = (GuardedBuffer(rows, at: edge), GuardedBuffer(factors, at: edge))
        func combine(_ range: Range<Int>, to output: GuardedBuffer) {
          set.kernels.combineRows(
            RowCombination(
              rows: InputView(r.constant + range.lowerBound * stride, Strides(row: stride)),
              factors: f.constant + range.lowerBound, count: range.count, columns: columns,
              output: output.pointer, accumulates: range.lowerBound > 0))
        }
        let whole = GuardedBuffer(count: columns, at: edge)
        combine(0..<count, to: whole)
        expectClose(whole.values, exact, "\(set) \(columns)")
        guard count > 1 else { continue }
        let parts = GuardedBuffer(count: columns, at: edge)
        combine(0..<count / 2, to: parts)
        combine(count / 2..<count, to: parts)
        #expect(parts.values == whole.values, "\(set) \(columns)")
      }
    }
  }

  /// The columns of a row-major matrix and those of its transpose are packed alike.
  @Test(arguments: availableSets) func packedColumns(_ set: InstructionSet) {
    let kernels = set.kernels
    for (depth, columns, stride, run) in [
      (1, 1, 1, 1), (16, 16, 19, 16), (48, 32, 32, 16), (9, 37, 40, 3), (7, 70, 70, 7),
    ] {
      var generator = SplitMix64(seed: UInt64(depth + columns))
      let matrix = generator.values((depth - 1) * stride + columns)
      let transpose = (0..<columns).flatMap { c in (0..<depth).map { matrix[$0 * stride + c] } }
      let blocks = (columns + kernels.channelBlock - 1) / kernels.channelBlock
      let width = blocks * kernels.channelBlock
      let panelWidth = kernels.panelBlocks * kernels.channelBlock
      let panels = (blocks + kernels.panelBlocks - 1) / kernels.panelBlocks
      var expected: [Float] = []
      for panel in 0..<panels {
        let first = panel * panelWidth
        for k in 0..<depth {
          for c in first..<min(width, first + panelWidth) {
            expected.append(c < columns ? matrix[k * stride + c] : 0)
          }
        }
      }
      for edge in GuardedBuffer.Edge.allCases {
        for (source, rowStride, columnStride) in [(matrix, stride, 1), (transpose, 1, depth)] {
          let input = GuardedBuffer(source, at: edge)
          let packed = GuardedBuffer(count: depth * width, at: edge)
          var layout = WeightLayout(outputChannels: columns, inputChannels: depth)
          (layout.outputStride, layout.inputStride) = (columnStride, rowStride)
          kernels.packConvolutionWeights(
            PackingArguments(
              source: UnsafeRawPointer(input.constant), layout: layout, panels: 0..<panels,
              packed: packed.pointer),
            blockChannels: run, panelBlocks: kernels.panelBlocks)
          #expect(packed.values == expected, "\(set) \(depth) × \(columns)")
        }
      }
    }
  }
}
