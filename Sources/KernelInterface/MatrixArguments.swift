/// How the weights of a dense layer are stored.
package enum WeightFormat: @unchecked Sendable {
  // `@unchecked`: nothing is written through the pointers.
  case float32
  /// IEEE 754 binary16.
  case float16
  /// `scale · code + bias`, rounded once, with a scale and a bias for each row, the first row's first.
  case linear(bits: Int, scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)
  /// `table[code]`, from a `CodeTable` for as many bits.
  case table(bits: Int, UnsafePointer<Float>)
  /// `FixedRow`s, with a scale for each, the first row's first. Elements are counted with those that
  /// fill up a row.
  case fixed(scale: UnsafePointer<Float>)
}

/// Rows of a matrix; the first one is the first of `format`.
package struct WeightRows: @unchecked Sendable {
  /// Row-major; possibly unaligned, as they are in the file. Codes follow one another as those of
  /// `ExpansionArguments` do.
  package var base: UnsafeRawPointer
  package var format: WeightFormat
  /// Elements from `base` on to the first row, and from one row to the next.
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
  /// Floats from one input vector to the next.
  package var inputStride: Int
  package var batch: Int
  /// The first row's result.
  package var output: UnsafeMutablePointer<Float>
  package var outputStride: Int
  /// With the first row's bias and slope. No residual.
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

/// `c[m][n] = columnBias[n] + Σ(k) a[m][k] · b[k][n]`, all row-major; strides in floats from one row
/// to the next. The sum of an element does not depend on how rows or columns are divided among calls.
package struct MatrixProductArguments: @unchecked Sendable {
  package var a: UnsafePointer<Float>
  package var aStride: Int
  package var b: UnsafePointer<Float>
  package var bStride: Int
  package var c: UnsafeMutablePointer<Float>
  package var cStride: Int
  package var rows: Int
  package var columns: Int
  package var depth: Int
  package var columnBias: UnsafePointer<Float>?

  package init(
    a: UnsafePointer<Float>, aStride: Int, b: UnsafePointer<Float>, bStride: Int,
    c: UnsafeMutablePointer<Float>, cStride: Int, rows: Int, columns: Int, depth: Int,
    columnBias: UnsafePointer<Float>? = nil
  ) {
    self.a = a
    self.aStride = aStride
    self.b = b
    self.bStride = bStride
    self.c = c
    self.cStride = cStride
    self.rows = rows
    self.columns = columns
    self.depth = depth
    self.columnBias = columnBias
  }
}
