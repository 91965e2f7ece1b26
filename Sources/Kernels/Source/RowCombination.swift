import KernelInterface

/// Number of vectors of columns that are summed together: enough independent chains of sums to keep
/// the processor busy.
#if KERNELS_AVX512
  private typealias Columns = Count<4>
#else
  private typealias Columns = Count<8>
#endif

extension Table {
  @inline(never)
  package static func combineRows(_ a: RowCombination) {
    var column = 0
    while column &+ Columns.value &* lanes <= a.columns {
      a.sum(Columns(), from: column)
      column &+= Columns.value &* lanes
    }
    while column &+ lanes <= a.columns {
      a.sum(Count<1>(), from: column)
      column &+= lanes
    }
    if column < a.columns { a.sumRest(from: column) }
  }
}

extension RowCombination {
  @inline(__always)
  fileprivate func sum<let vectors: Int>(_: Count<vectors>, from column: Int) {
    var sums = InlineArray<vectors, Vector>(repeating: .zero)
    let target = output + column
    if accumulates { for v in 0..<vectors { sums[v] = load(target + v &* lanes) } }
    var row = rows.base + column
    for k in 0..<count {
      let factor = splat(factors[k])
      for v in 0..<vectors { sums[v] = multiplyAdd(factor, load(row + v &* lanes), sums[v]) }
      row += rows.strides.row
    }
    for v in 0..<vectors { store(sums[v], target + v &* lanes) }
  }

  /// Sums fewer columns than a vector has lanes.
  @inline(__always)
  fileprivate func sumRest(from column: Int) {
    let rest = columns &- column
    let target = output + column
    var sum = accumulates ? load(UnsafeRawPointer(target), count: rest) : .zero
    for k in 0..<count {
      let row = UnsafeRawPointer(rows.base + (k &* rows.strides.row &+ column))
      sum = multiplyAdd(splat(factors[k]), load(row, count: rest), sum)
    }
    store(sum, target, count: rest)
  }
}
