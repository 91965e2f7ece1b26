import KernelInterface

extension Table {
  @inline(never)
  package static func pool(_ a: PoolingArguments) {
    switch a.function {
    case .maximum: fold(a, Largest.self, inTiles: true) { value, _, _ in value }
    case .average:
      fold(a, Sum.self) { sum, y, x in
        let rows = a.rows.counts?[y] ?? a.rows.ends[y] &- a.rows.starts[y]
        let columns = a.columns.counts?[x] ?? a.columns.ends[x] &- a.columns.starts[x]
        return sum / splat(Float(rows &* columns))
      }
    case .l2: fold(a, SumOfSquares.self) { sum, _, _ in squareRoot(sum) }
    }
  }
}

@inline(__always)
private func fold<F: Fold>(
  _ a: PoolingArguments, _: F.Type, inTiles: Bool = false,
  finish: (Vector, _ y: Int, _ x: Int) -> Vector
) {
  var y = 0
  while y < a.rows.count {
    let rowStart = Int(a.rows.starts[y])
    let rowEnd = Int(a.rows.ends[y])
    let output = a.output.base + y &* a.output.strides.row
    var x = 0
    while x < a.columns.count {
      if inTiles, rowStart < rowEnd, let window = regularWindow(a, rowStart..<rowEnd, x) {
        let target = output + x &* channelBlock
        if window.step == 1 {
          poolTile(a, F.self, window, Count<1>(), target)
        } else {
          poolTile(a, F.self, window, Count<2>(), target)
        }
        x &+= PoolingTile.value
        continue
      }
      let columnStart = Int(a.columns.starts[x])
      let columnEnd = Int(a.columns.ends[x])
      let isEmpty = rowStart >= rowEnd || columnStart >= columnEnd
      var values = InlineArray<2, Vector>(repeating: splat(F.neutral))
      var row = rowStart
      while row < rowEnd {
        var pixel = a.input.base + (row &* a.input.strides.row &+ columnStart &* channelBlock)
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

/// Number of output pixels computed at once; a single one would be slow because of latency.
private typealias PoolingTile = Count<8>

/// A tile's windows: the rows, the columns of the first one, and the distance to the next one, 1 or 2.
private struct RegularWindow {
  var rows: Range<Int>
  var columns: Range<Int>
  var step: Int
}

/// The windows of the tile that starts at output column `x`, if all have the same width and
/// spacing. Common spacings are compile-time constants, because there are too few registers for
/// addresses.
@inline(__always)
private func regularWindow(_ a: PoolingArguments, _ rows: Range<Int>, _ x: Int) -> RegularWindow? {
  guard x &+ PoolingTile.value <= a.columns.count else { return nil }
  let start = a.columns.starts[x]
  let end = a.columns.ends[x]
  let step = a.columns.starts[x &+ 1] &- start
  guard start < end, step == 1 || step == 2 else { return nil }
  var i: Int32 = 1
  while i < PoolingTile.value {
    let next = x &+ Int(i)
    if a.columns.starts[next] != start &+ i &* step || a.columns.ends[next] != end &+ i &* step {
      return nil
    }
    i &+= 1
  }
  return RegularWindow(rows: rows, columns: Int(start)..<Int(end), step: Int(step))
}

/// Folds windows without the final step.
@inline(__always)
private func poolTile<F: Fold, let step: Int>(
  _ a: PoolingArguments, _: F.Type, _ window: RegularWindow, _: Count<step>,
  _ output: UnsafeMutablePointer<Float>
) {
  for half in 0..<vectorsPerBlock {
    var values = Tile<8, 1> { _ in [splat(F.neutral)] }
    var row = window.rows.lowerBound
    while row < window.rows.upperBound {
      var pixel =
        a.input.base
        + (row &* a.input.strides.row &+ window.columns.lowerBound &* channelBlock &+ half &* lanes)
      var column = window.columns.lowerBound
      while column < window.columns.upperBound {
        for p in 0..<PoolingTile.value {
          let value = load(pixel + p &* step &* channelBlock)
          values[p][0] = F.combine(values[p][0], F.prepare(value))
        }
        pixel += channelBlock
        column &+= 1
      }
      row &+= 1
    }
    let first = output + half &* lanes
    for p in 0..<PoolingTile.value { store(values[p][0], first + p &* channelBlock) }
  }
}
