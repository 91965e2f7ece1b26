// Targets that handle documents hold this file, or a link to it: in them these operators take the
// place of the standard library's, so sizes from a file can be multiplied and added in no other way.
// `make lint` checks the links.

/// The largest result of a product: beyond any limit, and small enough to be the size of an array.
private let largestSize = 1 << 60

extension Int {
  /// The product. One beyond ±2⁶⁰ becomes that, which no limit allows and no memory holds.
  @inline(__always) static func * (a: Int, b: Int) -> Int {
    let (product, overflow) = a.multipliedReportingOverflow(by: b)
    if overflow || product.magnitude > 1 << 60 {
      return (a < 0) == (b < 0) ? largestSize : -largestSize
    }
    return product
  }

  /// The sum, or the nearest number that there is.
  @inline(__always) static func + (a: Int, b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? (a < 0 ? -.max : .max) : sum
  }

  /// The difference, or the nearest number that there is.
  @inline(__always) static func - (a: Int, b: Int) -> Int {
    let (difference, overflow) = a.subtractingReportingOverflow(b)
    return overflow ? (a < 0 ? -.max : .max) : difference
  }

  @inline(__always) static func *= (a: inout Int, b: Int) { a = a * b }
  @inline(__always) static func += (a: inout Int, b: Int) { a = a + b }
  @inline(__always) static func -= (a: inout Int, b: Int) { a = a - b }
}
