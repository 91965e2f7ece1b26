import Kernels
import Synchronization
import TensorCore

/// A large matrix for few vectors. The time of its product is that of reading the weights, so its
/// rows are packed as `FixedRow`s, with three bytes per weight instead of four.
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
///
/// The first prediction packs a few rows at a time into memory that stays in the cache: for a
/// single prediction, that is faster than writing all of them to new memory. The second packs all
/// of them. The results are the same. Weights in another order, as in Keras files, must be copied
/// anyway and are packed at once.
final class FixedRowMatrix: Sendable {
  private enum Stage { case unused, usedOnce, packed }

  private let stage: Mutex<Stage>
  /// Floats in row order; nil if only the `loose` rows of them are left.
  private let weights: Bytes?
  /// Rows that stay floats, if `weights` is nil.
  private let loose: [Int: Bytes]
  private let packed: AlignedBuffer
  /// NaN for rows that are not packed.
  private let scales: Constant
  private let rows: Int
  private let columns: Int
  private let rowBytes: Int
  private let kernels: any KernelTable.Type

  /// Below this number of weights read this way in the whole network, they are not packed: less
  /// than 16 MB of floats may stay in a cache between predictions.
  private static let fewestStreamedWeights = 4_000_000
  /// Packing a smaller matrix is not worth the call.
  private static let fewestWeights = 1 << 16
  /// With more vectors, computing takes longer than reading the weights.
  static let mostVectors = 2
  /// Rows that the first prediction packs at a time.
  private static let rowsAtOnce = 4

  /// - Parameter streamed: number of weights in all matrices of the network with few vectors.
  static func isUsed(rows: Int, columns: Int, vectors: Int, streamed: Int) -> Bool {
    vectors <= mostVectors && streamed >= fewestStreamedWeights && columns > 0
      && rows >= (fewestWeights + columns - 1) / columns
  }

  static func byteCount(rows: Int, columns: Int) -> Int { rows * rowBytes(columns) }

  private static func rowBytes(_ columns: Int) -> Int {
    FixedRow.paddedColumns(columns) * FixedRow.bytesPerColumn
  }

  /// Floats of working memory per thread: some rows, and their scales.
  static func scratchFloats(columns: Int) -> Int {
    scaleFloats + rowsAtOnce * rowBytes(columns) / 4
  }

  /// Keeps the rows after the scales aligned.
  private static let scaleFloats = AlignedBuffer.alignment / 4

  /// - Parameter values: `[rows, columns]` in any order.
  init(_ values: FloatValues, rows: Int, columns: Int, _ context: StepContext) throws {
    (self.rows, self.columns, kernels) = (rows, columns, context.kernels)
    rowBytes = Self.rowBytes(columns)
    packed = try context.weightBuffer(floats: rows * rowBytes / 4)
    scales = try Constant([Float](repeating: .nan, count: rows))
    weights = values.contiguousBytes
    stage = Mutex(weights == nil ? .packed : .unused)
    var loose: [Int: Bytes] = [:]
    if weights == nil {
      let floats = try AlignedBuffer(checkedByteCount: rows * columns * 4)
      try values.copyOnce(to: floats.pointer.assumingMemoryBound(to: Float.self))
      var used = 0
      for row in 0..<rows {
        let begin = row * columns * 4
        let scale = Self.pack(
          floats.pointer + begin, columns, to: packed.pointer + row * rowBytes, kernels)
        scales.buffer.pointer.assumingMemoryBound(to: Float.self)[row] = scale
        if scale.isNaN {
          loose[row] = Bytes(
            Array(UnsafeRawBufferPointer(start: floats.pointer + begin, count: columns * 4)))
        }
        // Releases the copy at the rate at which the packed rows grow.
        if begin - used >= 16 << 20 {
          floats.dropPages(used..<begin)
          used = begin
        }
      }
    }
    self.loose = loose
  }

  /// Starts a prediction.
  ///
  /// - Returns: whether all rows are packed; otherwise `forEachPart` needs working memory.
  func begin(_ pool: ThreadPool) -> Bool {
    stage.withLock { stage in
      if stage == .unused {
        stage = .usedOnce
        return false
      }
      if stage == .usedOnce { pack(pool) }
      stage = .packed
      return true
    }
  }

  private func pack(_ pool: ThreadPool) {
    let unit = max(1, (1 << 20) / rowBytes)
    let target = UnsafeMutableSendable(packed.pointer.assumingMemoryBound(to: UInt8.self))
    let scale = UnsafeMutableSendable(scales.buffer.pointer.assumingMemoryBound(to: Float.self))
    pool.forEach((rows + unit - 1) / unit) { index in
      let part = index * unit..<min(rows, (index + 1) * unit)
      pack(part, to: target.pointer + part.lowerBound * rowBytes, scale.pointer + part.lowerBound)
      dropPages(of: part)
    }
  }

  private func pack(
    _ range: Range<Int>, to target: UnsafeMutableRawPointer, _ scales: UnsafeMutablePointer<Float>
  ) {
    weights?.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      for (index, row) in range.enumerated() {
        scales[index] = Self.pack(
          base + row * columns * 4, columns, to: target + index * rowBytes, kernels)
      }
    }
  }

  /// - Returns: the row's scale, or NaN if it must stay floats.
  private static func pack(
    _ row: UnsafeRawPointer, _ columns: Int, to target: UnsafeMutableRawPointer,
    _ kernels: any KernelTable.Type
  ) -> Float {
    let summary = kernels.packFixedRow(row, columns: columns, to: target)
    return summary.peak <= min(32, Double(columns) / 64) ? summary.scale : .nan
  }

  /// Releases the file's pages.
  private func dropPages(of range: Range<Int>) {
    weights?[range.lowerBound * columns * 4..<range.upperBound * columns * 4].dropPages()
  }

  /// Calls `body` for each run of rows in `range` that are stored the same way, with their storage.
  ///
  /// - Parameter scratch: working memory; nil if all rows are packed.
  func forEachPart(
    of range: Range<Int>, _ scratch: UnsafeMutablePointer<Float>?,
    _ body: (Range<Int>, WeightRows) -> Void
  ) {
    guard let scratch else {
      return forEachPart(of: range, packed: packed.pointer, scales.pointer, firstRow: 0, body)
    }
    let memory = scratch + Self.scaleFloats
    for first in stride(from: range.lowerBound, to: range.upperBound, by: Self.rowsAtOnce) {
      let part = first..<min(first + Self.rowsAtOnce, range.upperBound)
      pack(part, to: memory, scratch)
      forEachPart(of: part, packed: memory, scratch, firstRow: first, body)
    }
    dropPages(of: range)
  }

  /// - Parameters:
  ///   - packed: the packed rows, starting with `firstRow`.
  ///   - scales: their scales.
  private func forEachPart(
    of range: Range<Int>, packed: UnsafeMutableRawPointer, _ scales: UnsafePointer<Float>,
    firstRow: Int, _ body: (Range<Int>, WeightRows) -> Void
  ) {
    func isPacked(_ row: Int) -> Bool { !scales[row - firstRow].isNaN }
    func passFloats(_ part: Range<Int>, _ bytes: Bytes, first: Int) {
      bytes.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        body(
          part, WeightRows(base: base, format: .float32, first: first * columns, stride: columns))
      }
    }
    var row = range.lowerBound
    while row < range.upperBound {
      var end = row + 1
      while end < range.upperBound, isPacked(end) == isPacked(row) { end += 1 }
      if isPacked(row) {
        let stride = FixedRow.paddedColumns(columns)
        body(
          row..<end,
          WeightRows(
            base: UnsafeRawPointer(packed), format: .fixed(scale: scales + (row - firstRow)),
            first: (row - firstRow) * stride, stride: stride))
      } else if let weights {
        passFloats(row..<end, weights, first: row)
      } else {
        for row in row..<end { loose[row].map { passFloats(row..<row + 1, $0, first: 0) } }
      }
      row = end
    }
  }
}
