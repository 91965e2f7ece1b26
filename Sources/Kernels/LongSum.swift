extension KernelTable {
  /// The sum of a long vector: pieces in single precision, the total in double precision.
  package static func sum(
    _ function: Reduction, _ input: UnsafePointer<Float>, _ count: Int
  ) -> Double {
    var total = 0.0
    var start = 0
    while start < count {
      let length = min(4096, count - start)
      total += Double(reduce(function, input + start, count: length))
      start += length
    }
    return total
  }
}
