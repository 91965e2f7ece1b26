import Kernels
import TensorCore

/// A large matrix for few vectors. Reading the weights limits the speed of its product, so its rows
/// are packed as `FixedRow`s, with three bytes per weight instead of four.
///
/// How much less accurate is the result? With n columns, inputs |x| ≤ X and s the row's scale, each
/// code is off by at most s/2, so the sum is off by at most n · X · s/2. The sum in single
/// precision, over 32 chains and their total, is off by up to (n/32 + 6) · 2⁻²⁴ · X · Σ |w|. As
/// s ≤ 2⁻²² · max |w|, the former does not exceed the latter if
///
///     max |w| ≤ (n/32 + 6) / 2 · mean |w|
///
/// for which n/64 · mean |w| suffices. For such a row the error bound at most doubles. Typical
/// errors only grow with the square root of the number of columns: like n · 2⁻²⁸ for the sum, and
/// like √n · 2⁻²⁴ · max |w| / mean |w| for the codes. To keep these comparable, the largest weight
/// must also not exceed 32 times the mean. All other rows, and rows that are not finite, stay
/// floats.
struct FixedRowMatrix: Sendable {
  private let packed: AlignedBuffer
  /// NaN for rows that are not packed.
  private let scales: Constant
  /// Nil if all rows are packed.
  private let floats: Bytes?
  private let columns: Int

  /// Fewer weights are not worth packing: less than 16 MB of floats may stay in a cache between
  /// predictions.
  private static let fewestWeights = 4_000_000
  /// With more vectors, computing takes longer than reading the weights.
  private static let mostVectors = 2

  static func isUsed(rows: Int, columns: Int, vectors: Int) -> Bool {
    vectors <= mostVectors && columns > 0 && rows >= (fewestWeights + columns - 1) / columns
  }

  static func byteCount(rows: Int, columns: Int) -> Int {
    rows * FixedRow.paddedColumns(columns) * FixedRow.bytesPerColumn
  }

  private static func isFit(_ summary: FixedRowSummary, columns: Int) -> Bool {
    summary.peak <= min(32, Double(columns) / 64)
  }

  /// Reads `weights`, floats in row order, once, and releases the file's pages as it goes.
  init(_ weights: Bytes, rows: Int, columns: Int, _ context: StepContext) throws {
    self.columns = columns
    let rowBytes = FixedRow.paddedColumns(columns) * FixedRow.bytesPerColumn
    packed = try context.weightBuffer(floats: rowBytes / 4 * rows)
    scales = try Constant([Float](repeating: .nan, count: rows))
    let target = UnsafeMutableSendable(packed.pointer.assumingMemoryBound(to: UInt8.self))
    let scale = UnsafeMutableSendable(scales.buffer.pointer.assumingMemoryBound(to: Float.self))
    let unit = max(1, (1 << 20) / rowBytes)
    context.pool.forEach((rows + unit - 1) / unit) { index in
      let part = index * unit..<min(rows, (index + 1) * unit)
      let source = weights[part.lowerBound * columns * 4..<part.upperBound * columns * 4]
      source.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        for row in part {
          let summary = context.kernels.packFixedRow(
            base + (row - part.lowerBound) * columns * 4, columns: columns,
            to: target.pointer + row * rowBytes)
          if Self.isFit(summary, columns: columns) { scale.pointer[row] = summary.scale }
        }
      }
      source.dropPages()
    }
    let isWhole = (0..<rows).allSatisfy { !scale.pointer[$0].isNaN }
    floats = isWhole ? nil : weights
  }

  /// Calls `body` for each run of rows in `range` that are stored alike, with their storage.
  func forEachPart(of range: Range<Int>, _ body: (Range<Int>, WeightRows) -> Void) {
    var row = range.lowerBound
    while row < range.upperBound {
      let isPacked = !scales.pointer[row].isNaN
      var end = row + 1
      while end < range.upperBound, !scales.pointer[end].isNaN == isPacked { end += 1 }
      if isPacked {
        let stride = FixedRow.paddedColumns(columns)
        body(
          row..<end,
          WeightRows(
            base: UnsafeRawPointer(packed.pointer), format: .fixed(scale: scales.pointer + row),
            first: row * stride, stride: stride))
      } else {
        floats?.withUnsafeBytes { bytes in
          guard let base = bytes.baseAddress else { return }
          body(
            row..<end,
            WeightRows(base: base, format: .float32, first: row * columns, stride: columns))
        }
      }
      row = end
    }
  }
}
