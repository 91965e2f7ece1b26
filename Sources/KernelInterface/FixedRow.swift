/// A row of a matrix as whole numbers of 24 bits with one scale, a power of two:
///
///     w[k] = scale · code[k] + e[k],   |e[k]| ≤ scale / 2 ≤ 2⁻²³ · max |w|
///
/// Columns are in blocks of 64, the last filled up with zeros. A block is three cache lines: the
/// high sixteen bits of its codes, signed, then the low eight. A code is expanded without a table or
/// a permutation, and as a float it is exact.
package enum FixedRow {
  package static let blockColumns = 64
  package static let bytesPerColumn = 3

  /// Columns of a packed row of `columns`.
  package static func paddedColumns(_ columns: Int) -> Int {
    (columns + blockColumns - 1) / blockColumns * blockColumns
  }
}

/// What packing a row has found; the same on every instruction set.
package struct FixedRowSummary: Sendable, Equatable {
  /// 0 for a row of zeros. NaN where nothing has been packed: a value is not finite, or the largest
  /// is below 2⁻¹⁰⁴, so that the scale would have no exact inverse.
  package var scale: Float
  /// The largest magnitude divided by the mean of all, which counts whole multiples of 256 scales; 0
  /// for a row of zeros.
  package var peak: Double

  package init(scale: Float, peak: Double) {
    self.scale = scale
    self.peak = peak
  }
}
