/// How the weights of a dense layer are stored.
package enum WeightFormat: @unchecked Sendable {
  // `@unchecked`: nothing is written through the pointers.
  case float32
  /// IEEE 754 binary16.
  case float16
  /// `scale · code + bias`, rounded once, with a scale and a bias for each row; the pointers
  /// are to those of the first row.
  case linear(bits: Int, scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)
  /// `table[code]`, from a `CodeTable` for the same number of bits.
  case table(bits: Int, UnsafePointer<Float>)
  /// `FixedRow`s, with a scale for each; the pointer is to that of the first row. Element counts
  /// include the padding of the rows.
  case fixed(scale: UnsafePointer<Float>)
}

/// Rows of a matrix; the first one corresponds to the first entries of `format`.
package struct WeightRows: @unchecked Sendable {
  /// Row-major; possibly unaligned, as in the file. Codes are packed as in `ExpansionArguments`.
  package var base: UnsafeRawPointer
  package var format: WeightFormat
  /// Elements from `base` to the first row, and from one row to the next.
  package var first: Int
  package var stride: Int

  package init(
    base: UnsafeRawPointer, format: WeightFormat = .float32, first: Int = 0, stride: Int
  ) {
    self.base = base
    self.format = format
    self.first = first
    self.stride = stride
  }
}

/// `out[n][o] = activation(bias[o] + Σ(k) w[o][k] · x[n][k])` for contiguous `k`.
package struct DenseArguments: @unchecked Sendable {
  package var weights: WeightRows
  package var rows: Int
  package var columns: Int
  package var input: UnsafePointer<Float>
  /// Distance in floats from one input vector to the next.
  package var inputStride: Int
  package var batch: Int
  /// The result for the first row.
  package var output: UnsafeMutablePointer<Float>
  package var outputStride: Int
  /// Starts with the first row's bias and slope. The residual is ignored.
  package var epilogue: Epilogue

  package init(
    weights: WeightRows, rows: Int, columns: Int, input: UnsafePointer<Float>,
    inputStride: Int = 0, batch: Int = 1, output: UnsafeMutablePointer<Float>,
    outputStride: Int = 0, epilogue: Epilogue = Epilogue()
  ) {
    self.weights = weights
    self.rows = rows
    self.columns = columns
    self.input = input
    self.inputStride = inputStride
    self.batch = batch
    self.output = output
    self.outputStride = outputStride
    self.epilogue = epilogue
  }
}

/// `out[c] = Σ(k) factors[k] · rows[k][c]`, or the same added to `out`, for contiguous `c`.
package struct RowCombination: @unchecked Sendable {
  package var rows: UnsafePointer<Float>
  /// Distance in floats from one row to the next.
  package var stride: Int
  package var factors: UnsafePointer<Float>
  package var count: Int
  package var columns: Int
  package var output: UnsafeMutablePointer<Float>
  package var accumulates: Bool

  package init(
    rows: UnsafePointer<Float>, stride: Int, factors: UnsafePointer<Float>, count: Int,
    columns: Int, output: UnsafeMutablePointer<Float>, accumulates: Bool = false
  ) {
    self.rows = rows
    self.stride = stride
    self.factors = factors
    self.count = count
    self.columns = columns
    self.output = output
    self.accumulates = accumulates
  }
}

/// `x[r][i] = scores[r · stride + i] + mask[r · maskRow + i · maskColumn]`.
package struct SoftmaxRows: @unchecked Sendable {
  package var scores: UnsafeMutablePointer<Float>
  package var stride: Int
  package var rows: Int
  package var count: Int
  package var mask: UnsafePointer<Float>?
  package var maskRow: Int
  /// 0 or 1.
  package var maskColumn: Int

  package init(
    scores: UnsafeMutablePointer<Float>, stride: Int, rows: Int, count: Int,
    mask: UnsafePointer<Float>? = nil, maskRow: Int = 0, maskColumn: Int = 0
  ) {
    self.scores = scores
    self.stride = stride
    self.rows = rows
    self.count = count
    self.mask = mask
    self.maskRow = maskRow
    self.maskColumn = maskColumn
  }
}
