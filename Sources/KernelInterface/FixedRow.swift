/// A row of a matrix as 24-bit integers with a common scale, a power of two:
///
///     w[k] = scale · code[k] + e[k],   |e[k]| ≤ scale / 2 ≤ 2⁻²³ · max |w|
///
/// Columns are in blocks of 64; the last block is padded with zeros. A block is three cache lines:
/// the high sixteen bits of its codes, signed, then the low eight. Expanding a code needs neither a
/// table nor a permutation, and the resulting float is exact.
package enum FixedRow {
  package static let blockColumns = 64
  package static let bytesPerColumn = 3

  /// Number of columns in a packed row for `columns` columns.
  package static func paddedColumns(_ columns: Int) -> Int {
    (columns + blockColumns - 1) / blockColumns * blockColumns
  }
}

/// The result of packing a row, which is the same on every instruction set.
package struct FixedRowSummary: Sendable, Equatable {
  /// 0 for a row of zeros. NaN if nothing was packed, because a value is not finite or the largest
  /// magnitude is below 2⁻¹⁰⁴, so that the scale would have no exact inverse.
  package var scale: Float
  /// The largest magnitude divided by the mean magnitude, for which magnitudes are rounded down to
  /// multiples of 256 scales; 0 for a row of zeros.
  package var peak: Double

  package init(scale: Float, peak: Double) { (self.scale, self.peak) = (scale, peak) }
}
