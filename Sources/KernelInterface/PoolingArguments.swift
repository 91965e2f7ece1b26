package enum PoolingFunction: UInt8, Sendable {
  case maximum
  /// The sum of the window divided by `rows.counts[y] · columns.counts[x]`.
  case average
  /// The square root of the sum of squares of the window.
  case l2
}

/// The windows along one axis: output `i` uses the inputs `starts[i] ..< ends[i]`. These never
/// include padding.
package struct PoolingWindows: @unchecked Sendable {
  package var count: Int
  package var starts: UnsafePointer<Int32>
  package var ends: UnsafePointer<Int32>
  /// Divisors of the average; nil uses the size of the window.
  package var counts: UnsafePointer<Int32>?

  package init(
    count: Int, starts: UnsafePointer<Int32>, ends: UnsafePointer<Int32>,
    counts: UnsafePointer<Int32>? = nil
  ) {
    (self.count, self.starts, self.ends, self.counts) = (count, starts, ends, counts)
  }
}

/// Pooling of one channel block. An empty window gives 0.
package struct PoolingArguments: @unchecked Sendable {
  package var function: PoolingFunction
  package var rows: PoolingWindows
  package var columns: PoolingWindows
  /// Pixel (0, 0) of the block.
  package var input: InputView
  package var output: OutputView

  package init(
    function: PoolingFunction, rows: PoolingWindows, columns: PoolingWindows, input: InputView,
    output: OutputView
  ) {
    (self.function, self.rows, self.columns, self.input) = (function, rows, columns, input)
    self.output = output
  }
}
