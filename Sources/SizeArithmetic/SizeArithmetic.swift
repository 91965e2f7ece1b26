// A target that handles documents compiles this file, through a link in its folder: it adds, subtracts
// and multiplies `Int`s by these operators instead of the standard library's, which trap.

extension Int {
  /// The product, saturating at ±2⁶⁰, which exceeds every limit.
  @inline(__always) static func * (a: Int, b: Int) -> Int {
    let (product, overflow) = a.multipliedReportingOverflow(by: b)
    if overflow || product.magnitude > 1 << 60 {
      return (a < 0) == (b < 0) ? 1 << 60 : -1 << 60
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
