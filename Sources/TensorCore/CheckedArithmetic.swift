/// The product of sizes that a file declares; throws if it overflows `Int` or exceeds `limit`.
package func checkedProduct(_ sizes: some Sequence<Int>, limit: Int = Int.max) throws -> Int {
  var product = 1
  for size in sizes {
    guard size >= 0 else { throw ModelError(.malformed, "negative size \(size)") }
    let (next, overflow) = product.multipliedReportingOverflow(by: size)
    guard !overflow, next <= limit else {
      throw ModelError(.limitExceeded, "the size \(Array(sizes)) exceeds the limit of \(limit)")
    }
    product = next
  }
  return product
}

/// The sum of sizes that a file declares; throws if it overflows `Int` or exceeds `limit`.
package func checkedSum(_ sizes: some Sequence<Int>, limit: Int = Int.max) throws -> Int {
  var sum = 0
  for size in sizes {
    let (next, overflow) = sum.addingReportingOverflow(size)
    guard !overflow, next <= limit else {
      throw ModelError(.limitExceeded, "the total of \(Array(sizes)) exceeds the limit of \(limit)")
    }
    sum = next
  }
  return sum
}
