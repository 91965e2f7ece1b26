import Kernels
import TensorCore

/// softmax(scale · query · keyᵀ + mask) · value for pairs of matrices from three arrays, a few rows
/// of scores at a time, which stay in the cache. The mask is the fourth input.
struct AttentionOperation: NodeOperation {
  /// scale · query · keyᵀ; its result is the scores.
  var scores: MatrixProductOperation
  /// scores · value
  var weighted: MatrixProductOperation
  var mask: MatrixWalk?

  var kind: String { "attention" + (mask == nil ? "" : " + mask") }
  var sumsProducts: Bool { true }

  private struct Sizes {
    let keys: PanelFactor
    let values: PanelFactor
    let band: Int

    init(_ operation: AttentionOperation, _ kernels: any KernelTable.Type) {
      let (scores, weighted) = (operation.scores, operation.weighted)
      keys = PanelFactor(depth: scores.depth, columns: scores.columns, kernels)
      values = PanelFactor(depth: weighted.depth, columns: weighted.columns, kernels)
      band = kernels.productBand
    }

    /// Packed keys and values, scores, and results that do not fill blocks.
    var floats: Int { keys.floats + values.floats + band * (keys.width + values.width) }
  }

  /// For a few rows, packing keys and values would take longer than the products.
  private var readsInPlace: Bool {
    scores.rows < 4 && scores.b.row == 1 && weighted.b.column == 1
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    context.threadCount
      * (readsInPlace ? scores.columns : Sizes(self, context.kernels).floats)
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let places = Places(self)
    let sizes = Sizes(self, context.kernels)
    let (kernels, scratch) = (context.kernels, context.scratch)
    let (inputs, output) = (context.inputs, context.outputs[0])
    let (operation, inPlace) = (self, readsInPlace)
    let floats = inPlace ? scores.columns : sizes.floats
    let bands = inPlace ? 1 : (scores.rows + sizes.band - 1) / sizes.band
    return { run in
      let memory = run.pointer(scratch)
      let sources = inputs.map { UnsafePointer(run.pointer($0)) }
      let target = run.pointer(output)
      run.pool.share(places.query.count * bands) { thread, units in
        let near = memory + thread * floats
        var packed: Int?
        for unit in units {
          let matrix = unit / bands
          let operands = Operands(
            query: sources[0] + places.query[matrix], key: sources[1] + places.key[matrix],
            value: sources[2] + places.value[matrix],
            mask: places.mask.map { sources[3] + $0[matrix] },
            output: target + places.output[matrix])
          if inPlace {
            for row in 0..<operation.scores.rows {
              operation.computeInPlace(row, operands, near, kernels)
            }
            continue
          }
          if matrix != packed { operation.pack(operands, sizes, to: near) }
          packed = matrix
          let first = unit % bands * sizes.band
          operation.compute(
            first..<min(first + sizes.band, operation.scores.rows), operands, sizes, near, kernels)
        }
      }
    }
  }

  /// Where the matrices of each product start.
  private struct Places: Sendable {
    let query, key, value, output: [Int]
    let mask: [Int]?

    init(_ operation: AttentionOperation) {
      let batch = operation.scores.batch
      query = operation.scores.a.starts(batch)
      key = operation.scores.b.starts(batch)
      value = operation.weighted.b.starts(batch)
      mask = operation.mask?.starts(batch)
      output = operation.weighted.output.starts(batch)
    }
  }

  /// The matrices of one product.
  private struct Operands {
    var query, key, value: UnsafePointer<Float>
    var mask: UnsafePointer<Float>?
    var output: UnsafeMutablePointer<Float>
  }

  private func pack(
    _ operands: Operands, _ sizes: Sizes, to memory: UnsafeMutablePointer<Float>
  ) {
    sizes.keys.pack(
      operands.key, row: scores.b.row, column: scores.b.column, scale: scores.scale, to: memory)
    sizes.values.pack(
      operands.value, row: weighted.b.row, column: weighted.b.column, scale: weighted.scale,
      to: memory + sizes.keys.floats)
  }

  /// Computes some rows from packed keys and values.
  private func compute(
    _ rows: Range<Int>, _ operands: Operands, _ sizes: Sizes,
    _ memory: UnsafeMutablePointer<Float>, _ kernels: any KernelTable.Type
  ) {
    let values = memory + sizes.keys.floats
    let first = values + sizes.values.floats
    let width = sizes.keys.width
    sizes.keys.multiply(
      operands.query + rows.lowerBound * scores.a.row, stride: scores.a.row, count: rows.count,
      by: memory, to: first, outputStride: width)
    for row in rows { normalize(first + (row - rows.lowerBound) * width, row, operands, kernels) }
    sizes.values.multiply(
      first, stride: width, count: rows.count, by: values,
      to: operands.output + rows.lowerBound * weighted.output.row,
      outputStride: weighted.output.row, strip: first + sizes.band * width)
  }

  /// Adds the mask to a row of scores and takes its softmax.
  private func normalize(
    _ values: UnsafeMutablePointer<Float>, _ row: Int, _ operands: Operands,
    _ kernels: any KernelTable.Type
  ) {
    if let mask, let source = operands.mask {
      kernels.apply(
        .add, source + row * mask.row, mask.column == 0 ? .all : .none, to: values,
        count: scores.columns)
    }
    kernels.softmax(values, to: values, count: scores.columns)
  }

  /// Computes a row from keys and values whose elements are adjacent.
  private func computeInPlace(
    _ row: Int, _ operands: Operands, _ values: UnsafeMutablePointer<Float>,
    _ kernels: any KernelTable.Type
  ) {
    kernels.dense(
      DenseArguments(
        weights: WeightRows(base: operands.key, stride: scores.b.column), rows: scores.columns,
        columns: scores.depth, input: operands.query + row * scores.a.row, output: values))
    kernels.unary(
      UnaryArguments(
        function: .linear, input: values, output: values, count: scores.columns,
        alpha: scores.scale))
    normalize(values, row, operands, kernels)
    for key in 0..<scores.columns {
      var sum = UnaryArguments(
        function: .linear, input: operands.value + key * weighted.b.row,
        output: operands.output + row * weighted.output.row, count: weighted.columns,
        alpha: values[key] * weighted.scale)
      sum.accumulates = key > 0
      kernels.unary(sum)
    }
  }
}

extension KernelTable {
  /// Replaces each of `values` with the function of it and of one of `others`, which are adjacent
  /// or a single number.
  static func apply(
    _ function: CombiningFunction, _ others: UnsafePointer<Float>,
    _ broadcast: Broadcast = .none, to values: UnsafeMutablePointer<Float>, count: Int
  ) {
    withUnsafeTemporaryAllocation(of: CombiningOperand.self, capacity: 2) { operands in
      guard let first = operands.baseAddress else { return }
      first.initialize(to: CombiningOperand(values))
      (first + 1).initialize(to: CombiningOperand(others, broadcast))
      combine(
        CombiningArguments(
          function: function, operands: first, operandCount: 2, output: values, count: count))
    }
  }
}
