// A file that imports this module adds, subtracts and multiplies `Int`s by these operators instead of
// the standard library's, which trap. `make lint` demands it of files that compute with sizes from
// documents.

extension Int {
  /// The product, saturating at ±2⁶⁰, which exceeds every limit.
  @inlinable @inline(__always) package static func * (a: Int, b: Int) -> Int {
    let (product, overflow) = a.multipliedReportingOverflow(by: b)
    if overflow || product.magnitude > 1 << 60 {
      return (a < 0) == (b < 0) ? 1 << 60 : -1 << 60
    }
    return product
  }

  /// The sum, saturating at -Int.max and Int.max.
  @inlinable @inline(__always) package static func + (a: Int, b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? (a < 0 ? -.max : .max) : sum
  }

  /// The difference, saturating at -Int.max and Int.max.
  @inlinable @inline(__always) package static func - (a: Int, b: Int) -> Int {
    let (difference, overflow) = a.subtractingReportingOverflow(b)
    return overflow ? (a < 0 ? -.max : .max) : difference
  }

  @inlinable @inline(__always) package static func *= (a: inout Int, b: Int) { a = a * b }
  @inlinable @inline(__always) package static func += (a: inout Int, b: Int) { a = a + b }
  @inlinable @inline(__always) package static func -= (a: inout Int, b: Int) { a = a - b }
}
