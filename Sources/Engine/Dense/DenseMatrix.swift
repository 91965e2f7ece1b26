import Kernels
import TensorCore

/// The weights of a dense layer, `[outputs, inputs]`.
enum DenseMatrix: Sendable {
  case floats(Bytes, columns: Int)
  case compressed(RowFormat, columns: Int)
  case fixed(FixedRowMatrix)

  /// Starts a prediction.
  ///
  /// - Returns: whether `forEachPart` needs working memory.
  func begin(_ pool: ThreadPool) -> Bool {
    if case .fixed(let matrix) = self { !matrix.begin(pool) } else { false }
  }

  /// Calls `body` for each run of rows in `range` that are stored the same way, with their storage.
  ///
  /// - Parameter scratch: a thread's working memory, if `begin` requested it.
  func forEachPart(
    of range: Range<Int>, _ scratch: UnsafeMutablePointer<Float>?,
    _ body: (Range<Int>, WeightRows) -> Void
  ) {
    func whole(_ bytes: Bytes, _ format: WeightFormat, _ columns: Int) {
      bytes.withUnsafeBytes { matrix in
        guard let base = matrix.baseAddress else { return }
        body(
          range,
          WeightRows(
            base: base, format: format, first: range.lowerBound * columns, stride: columns))
      }
    }
    switch self {
    case .floats(let bytes, let columns): whole(bytes, .float32, columns)
    case .compressed(let rows, let columns):
      whole(rows.source, rows.kernelFormat(firstRow: range.lowerBound), columns)
    case .fixed(let matrix): matrix.forEachPart(of: range, scratch, body)
    }
  }
}
