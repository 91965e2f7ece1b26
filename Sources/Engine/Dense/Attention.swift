import Kernels
import TensorCore

/// softmax(factor · scale · query · keyᵀ + mask) · value for pairs of matrices from three arrays, a few rows
/// of scores at a time, which stay in the cache. The factor
/// and the mask are the last inputs.
struct AttentionOperation: NodeOperation {
  /// Rows of keys or values that one input contains. Row r, element c of matrix n is at
  /// `walk.starts(batch)[n] + r · walk.row + c · walk.column`.
  struct Part: Sendable, Equatable {
    var walk: MatrixWalk
    var count: Int
  }

  /// Sizes of the batch.
  var batch: [Int]
  /// Number of queries.
  var rows: Int
  /// Number of keys, and of values.
  var length: Int
  /// Elements of a query or key, and of a value.
  var depth: Int
  var columns: Int
  /// The factors of the scores and of the result.
  var scale: Float
  var outputScale: Float
  var query: MatrixWalk
  var output: MatrixWalk
  /// Parts in the order of their rows, such as a cache and new rows. The inputs are the query, the
  /// parts of the keys, the parts of the values, the factor and the mask.
  var keys: [Part]
  var values: [Part]
  var factor: MatrixWalk?
  var mask: MatrixWalk?

  /// - Parameters:
  ///   - scores: scale · query · keyᵀ.
  ///   - weighted: the normalized scores, row-major, times the values.
  init(
    scores: MatrixProductOperation, weighted: MatrixProductOperation, factor: MatrixWalk?,
    mask: MatrixWalk?
  ) {
    batch = scores.batch
    rows = scores.rows
    length = scores.columns
    depth = scores.depth
    columns = weighted.columns
    scale = scores.scale
    outputScale = weighted.scale
    query = scores.a
    output = weighted.output
    keys = [Part(walk: scores.b.transposed, count: length)]
    values = [Part(walk: weighted.b, count: length)]
    (self.factor, self.mask) = (factor, mask)
  }

  var kind: String { "attention" + (mask == nil ? "" : " + mask") }
  var sumsProducts: Bool { true }
  var borrowableInputs: Int { .max }

  private struct Sizes {
    let keys: PanelFactor
    let values: PanelFactor
    let band: Int

    init(_ operation: AttentionOperation, _ kernels: any KernelTable.Type) {
      keys = PanelFactor(depth: operation.depth, columns: operation.length, kernels)
      values = PanelFactor(depth: operation.length, columns: operation.columns, kernels)
      band = kernels.productBand
    }

    /// Packed keys and values, scores, and results that do not fill whole blocks.
    var floats: Int { keys.floats + values.floats + band * (keys.width + values.width) }
  }

  /// Whether keys and values, possibly in several parts, are read in place: for a few queries,
  /// packing them would take longer than the products.
  var readsInPlace: Bool { rows < 4 && (keys + values).allSatisfy { $0.walk.column == 1 } }

  func scratchFloats(_ context: StepContext) throws -> Int {
    context.threadCount * (readsInPlace ? length : Sizes(self, context.kernels).floats)
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let starts = Starts(self)
    let sizes = Sizes(self, context.kernels)
    let (kernels, scratch) = (context.kernels, context.scratch)
    let (inputs, output) = (context.inputs, context.outputs[0])
    let (operation, inPlace) = (self, readsInPlace)
    let floats = inPlace ? length : sizes.floats
    let bands = inPlace ? 1 : (rows + sizes.band - 1) / sizes.band
    return { run in
      let memory = run.pointer(scratch)
      let sources = inputs.map { UnsafePointer(run.pointer($0)) }
      let target = run.pointer(output)
      run.pool.share(starts.query.count * bands) { thread, units in
        let near = memory + thread * floats
        var packed: Int?
        for unit in units {
          let matrix = unit / bands
          let operands = Operands(starts, matrix, sources, target)
          if inPlace {
            for row in 0..<operation.rows { operation.computeInPlace(row, operands, near, kernels) }
            continue
          }
          if matrix != packed { operation.pack(operands, sizes, to: near) }
          packed = matrix
          let first = unit % bands * sizes.band
          operation.compute(
            first..<min(first + sizes.band, operation.rows), operands, sizes, near, kernels)
        }
      }
    }
  }

  /// Where the matrices of each product start, by part and then by matrix.
  private struct Starts: Sendable {
    let query, output: [Int]
    let keys, values: [[Int]]
    let factor, mask: [Int]?

    init(_ operation: AttentionOperation) {
      let batch = operation.batch
      query = operation.query.starts(batch)
      keys = operation.keys.map { $0.walk.starts(batch) }
      values = operation.values.map { $0.walk.starts(batch) }
      factor = operation.factor?.starts(batch)
      mask = operation.mask?.starts(batch)
      output = operation.output.starts(batch)
    }
  }

  /// The matrices of one product.
  private struct Operands {
    var query: UnsafePointer<Float>
    /// One per part.
    var keys, values: [UnsafePointer<Float>]
    var factor, mask: UnsafePointer<Float>?
    var output: UnsafeMutablePointer<Float>

    init(
      _ starts: Starts, _ matrix: Int, _ sources: [UnsafePointer<Float>],
      _ target: UnsafeMutablePointer<Float>
    ) {
      query = sources[0] + starts.query[matrix]
      keys = zip(sources[1...], starts.keys).map { $0 + $1[matrix] }
      let rest = sources[(1 + keys.count)...]
      values = zip(rest, starts.values).map { $0 + $1[matrix] }
      let last = sources.count - 1
      factor = starts.factor.map { sources[starts.mask == nil ? last : last - 1] + $0[matrix] }
      mask = starts.mask.map { sources[last] + $0[matrix] }
      output = target + starts.output[matrix]
    }
  }

  private func pack(_ operands: Operands, _ sizes: Sizes, to memory: UnsafeMutablePointer<Float>) {
    let (key, value) = (keys[0].walk, values[0].walk)
    sizes.keys.pack(operands.keys[0], row: key.column, column: key.row, scale: scale, to: memory)
    sizes.values.pack(
      operands.values[0], row: value.row, column: value.column, scale: outputScale,
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
      InputView(operands.query + rows.lowerBound * query.row, Strides(pixel: query.row)),
      count: rows.count, by: memory, to: OutputView(first, Strides(pixel: width)))
    normalize(first, stride: width, rows, operands, kernels)
    sizes.values.multiply(
      InputView(first, Strides(pixel: width)), count: rows.count, by: values,
      to: OutputView(operands.output + rows.lowerBound * output.row, Strides(pixel: output.row)),
      strip: first + sizes.band * width)
  }

  /// Applies factor, mask and softmax to some rows of scores.
  private func normalize(
    _ scores: UnsafeMutablePointer<Float>, stride: Int, _ rows: Range<Int>, _ operands: Operands,
    _ kernels: any KernelTable.Type
  ) {
    func view(_ operand: UnsafePointer<Float>?, _ walk: MatrixWalk?) -> InputView? {
      guard let operand, let walk else { return nil }
      return InputView(
        operand + rows.lowerBound * walk.row, Strides(pixel: walk.column, row: walk.row))
    }
    kernels.softmaxRows(
      SoftmaxRows(
        scores: OutputView(scores, Strides(row: stride)), rows: rows.count, count: length,
        factor: view(operands.factor, factor), mask: view(operands.mask, mask)))
  }

  /// Computes a row from keys and values with adjacent elements.
  private func computeInPlace(
    _ row: Int, _ operands: Operands, _ scores: UnsafeMutablePointer<Float>,
    _ kernels: any KernelTable.Type
  ) {
    var first = 0
    for (part, source) in zip(keys, operands.keys) {
      kernels.dense(
        DenseArguments(
          weights: WeightRows(base: source, stride: part.walk.row), rows: part.count,
          columns: depth, input: InputView(operands.query + row * query.row),
          output: OutputView(scores + first)))
      first += part.count
    }
    scale(scores, by: scale, count: length, kernels)
    normalize(scores, stride: length, row..<row + 1, operands, kernels)
    let result = operands.output + row * output.row
    first = 0
    for (part, source) in zip(values, operands.values) {
      var combination = RowCombination(
        rows: InputView(source, Strides(row: part.walk.row)), factors: scores + first,
        count: part.count, columns: columns, output: result)
      combination.accumulates = first > 0
      kernels.combineRows(combination)
      first += part.count
    }
    scale(result, by: outputScale, count: columns, kernels)
  }

  private func scale(
    _ values: UnsafeMutablePointer<Float>, by factor: Float, count: Int,
    _ kernels: any KernelTable.Type
  ) {
    if factor == 1 { return }
    kernels.unary(
      UnaryArguments(
        function: .linear, input: values, output: values, count: count, .init(alpha: factor)))
  }
}
