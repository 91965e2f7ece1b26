/// How the weights of a dense layer are stored.
package enum WeightFormat: @unchecked Sendable {
  // `@unchecked`: nothing is written through the pointers.
  case float32
  /// IEEE 754 binary16.
  case float16
  /// `scale · code + bias`, rounded once, with a scale and a bias per row, starting with the first.
  case linear(bits: Int, scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)
  /// `table[code]`, from a `CodeTable` for the same number of bits.
  case table(bits: Int, UnsafePointer<Float>)
  /// `FixedRow`s, with a scale per row, starting with the first. Element counts include the padding
  /// of the rows.
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
    (self.base, self.format, self.first, self.stride) = (base, format, first, stride)
  }
}

/// `out[n][o] = activation(bias[o] + Σ(k) w[o][k] · x[n][k])` for contiguous `k`.
package struct DenseArguments: @unchecked Sendable {
  package var weights: WeightRows
  package var rows: Int
  package var columns: Int
  /// Input vectors, as rows.
  package var input: InputView
  package var batch = 1
  /// The result for the first row of weights; a row for each input vector.
  package var output: OutputView
  /// Starts with the first row's bias and slope. The residual is ignored.
  package var epilogue = Epilogue()

  package init(weights: WeightRows, rows: Int, columns: Int, input: InputView, output: OutputView) {
    (self.weights, self.rows, self.columns, self.input) = (weights, rows, columns, input)
    self.output = output
  }
}

/// `out[c] = Σ(k) factors[k] · rows[k][c]`, or `out[c] += …`, for contiguous `c`.
package struct RowCombination: @unchecked Sendable {
  package var rows: InputView
  package var factors: UnsafePointer<Float>
  package var count: Int
  package var columns: Int
  package var output: UnsafeMutablePointer<Float>
  package var accumulates = false

  package init(
    rows: InputView, factors: UnsafePointer<Float>, count: Int, columns: Int,
    output: UnsafeMutablePointer<Float>
  ) {
    (self.rows, self.factors, self.count, self.columns) = (rows, factors, count, columns)
    self.output = output
  }
}

/// `x[r][i] = scores[r][i] + mask[r][i]` for `count` adjacent scores in a row.
package struct SoftmaxRows: @unchecked Sendable {
  package var scores: OutputView
  package var rows: Int
  package var count: Int
  /// The pixel stride is 0 or 1.
  package var factor: InputView?
  /// The pixel stride is 0 or 1.
  package var mask: InputView?

  package init(
    scores: OutputView, rows: Int, count: Int, factor: InputView? = nil, mask: InputView? = nil
  ) {
    (self.scores, self.rows, self.count) = (scores, rows, count)
    (self.factor, self.mask) = (factor, mask)
  }
}

/// Adjacent blocked pixels. A result depends on all channels of its pixel.
package struct BlockedPixels: @unchecked Sendable {
  package var input: InputView
  package var output: OutputView
  package var pixels: Int
  package var channels: Int

  package init(input: InputView, output: OutputView, pixels: Int, channels: Int) {
    (self.input, self.output, self.pixels, self.channels) = (input, output, pixels, channels)
  }
}

/// `scale[c] · (x[c] − μ) / √(σ² + ε) + bias[c]` for the channels of each pixel, with their mean μ and
/// variance σ².
package struct BlockedNormalization: @unchecked Sendable {
  package var pixels: BlockedPixels
  package var epsilon: Float
  /// One value per channel, followed by zeros for the other lanes of the last block.
  package var scale, bias: UnsafePointer<Float>

  package init(
    _ pixels: BlockedPixels, epsilon: Float, scale: UnsafePointer<Float>,
    bias: UnsafePointer<Float>
  ) {
    (self.pixels, self.epsilon, self.scale, self.bias) = (pixels, epsilon, scale, bias)
  }
}
