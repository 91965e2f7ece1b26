import KernelInterface

/// See `PoolingArguments`.
@inline(never)
func pool(_ a: PoolingArguments) {
  switch a.function {
  case .maximum: pool(a, Largest.self) { value, _, _ in value }
  case .average:
    pool(a, Sum.self) { sum, y, x in
      let rows = a.rowCounts?[y] ?? a.rowEnds[y] &- a.rowStarts[y]
      let columns = a.columnCounts?[x] ?? a.columnEnds[x] &- a.columnStarts[x]
      return sum / splat(Float(rows &* columns))
    }
  case .l2: pool(a, SumOfSquares.self) { sum, _, _ in squareRoot(sum) }
  }
}

@inline(__always)
private func pool<F: Fold>(
  _ a: PoolingArguments, _: F.Type, finish: (Vector, _ y: Int, _ x: Int) -> Vector
) {
  var y = 0
  while y < a.outputRows {
    let rowStart = Int(a.rowStarts[y])
    let rowEnd = Int(a.rowEnds[y])
    let output = a.output + y &* a.outputRowStride
    var x = 0
    while x < a.outputWidth {
      let columnStart = Int(a.columnStarts[x])
      let columnEnd = Int(a.columnEnds[x])
      let isEmpty = rowStart >= rowEnd || columnStart >= columnEnd
      var values = InlineArray<2, Vector>(repeating: splat(F.neutral))
      var row = rowStart
      while row < rowEnd {
        var pixel = a.input + (row &* a.inputRowStride &+ columnStart &* channelBlock)
        var column = columnStart
        while column < columnEnd {
          for half in 0..<vectorsPerBlock {
            values[half] = F.combine(values[half], F.prepare(load(pixel + half &* lanes)))
          }
          pixel += channelBlock
          column &+= 1
        }
        row &+= 1
      }
      for half in 0..<vectorsPerBlock {
        store(
          isEmpty ? .zero : finish(values[half], y, x),
          output + (x &* channelBlock &+ half &* lanes))
      }
      x &+= 1
    }
    y &+= 1
  }
}
