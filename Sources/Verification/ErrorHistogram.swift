import LibC

/// Counts absolute errors by power of ten.
public struct ErrorHistogram: Sendable, Equatable {
  /// The powers of ten that are counted separately; smaller errors count as the first, larger ones
  /// as the last.
  public static let exponents = -10...3

  /// Errors of exactly 0.
  public private(set) var exact = 0
  /// Errors from 10ᵉ up to 10ᵉ⁺¹, for each exponent e in order.
  public private(set) var counts = [Int](repeating: 0, count: ErrorHistogram.exponents.count)

  /// Counts an error, which must be nonnegative and may be infinite.
  mutating func add(_ error: Double) {
    if error == 0 {
      exact += 1
      return
    }
    let range = Self.exponents
    let exponent = error.isFinite ? Int(log10(error).rounded(.down)) : range.upperBound
    counts[min(max(exponent, range.lowerBound), range.upperBound) - range.lowerBound] += 1
  }
}
