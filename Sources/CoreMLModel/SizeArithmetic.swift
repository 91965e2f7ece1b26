// Targets that handle documents contain this file or a link to it. There, these operators replace
// the standard library's, so sizes from a file cannot be multiplied or added in any other way.
// `make lint` checks the links.

/// The largest product: beyond any limit, yet small enough to be the size of an array.
private let largestSize = 1 << 60

extension Int {
  /// The product, saturating at ±2⁶⁰, which no limit allows and no memory holds.
  @inline(__always) static func * (a: Int, b: Int) -> Int {
    let (product, overflow) = a.multipliedReportingOverflow(by: b)
    if overflow || product.magnitude > 1 << 60 {
      return (a < 0) == (b < 0) ? largestSize : -largestSize
    }
    return product
  }

  /// The sum, saturating at -Int.max and Int.max.
  @inline(__always) static func + (a: Int, b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? (a < 0 ? -.max : .max) : sum
  }

  /// The difference, saturating at -Int.max and Int.max.
  @inline(__always) static func - (a: Int, b: Int) -> Int {
    let (difference, overflow) = a.subtractingReportingOverflow(b)
    return overflow ? (a < 0 ? -.max : .max) : difference
  }

  @inline(__always) static func *= (a: inout Int, b: Int) { a = a * b }
  @inline(__always) static func += (a: inout Int, b: Int) { a = a + b }
  @inline(__always) static func -= (a: inout Int, b: Int) { a = a - b }
}
