import Kernels
import TensorCore

/// The weights of a dense layer, `[outputs, inputs]`.
enum DenseMatrix: Sendable {
  case floats(Bytes, columns: Int)
  case compressed(RowFormat, columns: Int)
  /// A few rows at a time are expanded, and multiplied by their factors.
  case expanded(CompressedWeights, scale: [Float]?, columns: Int, any KernelTable.Type)
  case fixed(FixedRowMatrix)

  /// Rows to expand at a time: as many as the kernel processes together.
  static let expandedRows = 4

  /// Starts a prediction.
  ///
  /// - Returns: whether `forEachPart` needs working memory.
  func begin(_ pool: ThreadPool) -> Bool {
    switch self {
    case .fixed(let matrix): !matrix.begin(pool)
    case .expanded: true
    case .floats, .compressed: false
    }
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
    case .expanded(let weights, let scale, let columns, let kernels):
      guard let scratch else { return }
      for first in stride(from: range.lowerBound, to: range.upperBound, by: Self.expandedRows) {
        let part = first..<min(first + Self.expandedRows, range.upperBound)
        weights.expand(first * columns..<part.upperBound * columns, to: scratch, kernels)
        if let scale {
          for row in part {
            let place = (row - first) * columns
            for index in place..<place + columns { scratch[index] *= scale[row] }
          }
        }
        body(part, WeightRows(base: scratch, stride: columns))
      }
    case .fixed(let matrix): matrix.forEachPart(of: range, scratch, body)
    }
  }
}
