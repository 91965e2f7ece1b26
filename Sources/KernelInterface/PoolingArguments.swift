package enum PoolingFunction: UInt8, Sendable {
  case maximum
  /// The sum of the window divided by `rowCounts[y] · columnCounts[x]`.
  case average
  /// The root of the sum of squares of the window.
  case l2
}

/// Pooling of one channel block. The window of output pixel (y, x) is the input rows
/// `rowStarts[y] ..< rowEnds[y]` and columns `columnStarts[x] ..< columnEnds[x]`; padding lies
/// outside and so is never seen. An empty window gives 0.
package struct PoolingArguments: @unchecked Sendable {
  package var function: PoolingFunction
  /// Pixel (0, 0) of the block.
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputRows: Int
  package var outputWidth: Int
  package var rowStarts: UnsafePointer<Int32>
  package var rowEnds: UnsafePointer<Int32>
  package var columnStarts: UnsafePointer<Int32>
  package var columnEnds: UnsafePointer<Int32>
  /// Divisors of the average; nil takes the size of the window.
  package var rowCounts: UnsafePointer<Int32>?
  package var columnCounts: UnsafePointer<Int32>?

  package init(
    function: PoolingFunction, input: UnsafePointer<Float>, inputRowStride: Int,
    output: UnsafeMutablePointer<Float>, outputRowStride: Int, outputRows: Int, outputWidth: Int,
    rowStarts: UnsafePointer<Int32>, rowEnds: UnsafePointer<Int32>,
    columnStarts: UnsafePointer<Int32>, columnEnds: UnsafePointer<Int32>,
    rowCounts: UnsafePointer<Int32>? = nil, columnCounts: UnsafePointer<Int32>? = nil
  ) {
    self.function = function
    self.input = input
    self.inputRowStride = inputRowStride
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputRows = outputRows
    self.outputWidth = outputWidth
    self.rowStarts = rowStarts
    self.rowEnds = rowEnds
    self.columnStarts = columnStarts
    self.columnEnds = columnEnds
    self.rowCounts = rowCounts
    self.columnCounts = columnCounts
  }
}
