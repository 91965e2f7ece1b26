import KernelInterface

/// See `PieceInputArguments`.
@inline(never)
func pieceInput(_ a: PieceInputArguments) {
  if a.blockChannels == 1 { return planarPieceInput(a) }
  withUnsafeTemporaryAllocation(of: Vector.self, capacity: 25) { half in
    guard let half = half.baseAddress else { return }
    blockedPieceInput(a, half)
  }
}

@inline(__always)
private func blockedPieceInput(_ a: PieceInputArguments, _ half: UnsafeMutablePointer<Vector>) {
  let rows = min(5, a.rows)
  var channel = 0
  while channel < a.blocks &* channelBlock {
    var source =
      a.input + (channel / channelBlock &* a.inputBlockStride &+ channel % channelBlock)
    var target = a.transformed + channel
    var tile = 0
    while tile < a.tiles {
      let from = source
      let columns = a.width &- 3 &* tile
      if rows == 5 && columns >= 5 {
        transformTile(half, to: target, pointStride: a.pointStride) { y, x in
          load(from + (y &* a.inputRowStride &+ x &* channelBlock))
        }
      } else {
        transformTile(half, to: target, pointStride: a.pointStride) { y, x in
          y < rows && x < columns
            ? load(from + (y &* a.inputRowStride &+ x &* channelBlock)) : .zero
        }
      }
      source += 3 &* channelBlock
      target += a.tileStride
      tile &+= 1
    }
    channel &+= lanes
  }
}

/// One vector of channels of one tile. `half` keeps `[column][row]` after the first of the two axes.
@inline(__always)
private func transformTile(
  _ half: UnsafeMutablePointer<Vector>, to target: UnsafeMutablePointer<Float>, pointStride: Int,
  _ value: (Int, Int) -> Vector
) {
  for x in 0..<5 {
    let column = pieceInput((value(0, x), value(1, x), value(2, x), value(3, x), value(4, x)))
    let to = half + 5 &* x
    to[0] = column.0
    to[1] = column.1
    to[2] = column.2
    to[3] = column.3
    to[4] = column.4
  }
  var to = target
  for y in 0..<5 {
    let from = half + y
    let row = pieceInput((from[0], from[5], from[10], from[15], from[20]))
    store(row.0, to)
    store(row.1, to + pointStride)
    store(row.2, to + 2 &* pointStride)
    store(row.3, to + 3 &* pointStride)
    store(row.4, to + 4 &* pointStride)
    to += 5 &* pointStride
  }
}

/// Columns whose rows are transformed at a time, and the tiles that begin in them.
private typealias ColumnBuffer = InlineArray<320, Float>
private var bufferColumns: Int {
  @inline(__always) get { 64 }
}
private var bufferTiles: Int {
  @inline(__always) get { 20 }
}

/// Down the columns in vectors of neighbours, then along the rows one tile after the other.
@inline(never)
private func planarPieceInput(_ a: PieceInputArguments) {
  var columns = ColumnBuffer(repeating: 0)
  var plane = 0
  while plane < a.blocks {
    var tile = 0
    while tile < a.tiles {
      let count = min(bufferTiles, a.tiles &- tile)
      let source = a.input + (plane &* a.inputBlockStride &+ 3 &* tile)
      let needed = 3 &* count &+ 2
      let width = max(0, min(needed, a.width &- 3 &* tile))
      var x = 0
      while x < needed {
        let used = max(0, min(lanes, width &- x))
        @inline(__always)
        func value(_ y: Int) -> Vector {
          if y >= a.rows { return .zero }
          let from = source + (y &* a.inputRowStride &+ x)
          return used == lanes ? load(from) : load(from, count: used)
        }
        let rows = pieceInput((value(0), value(1), value(2), value(3), value(4)))
        withUnsafeMutableBytes(of: &columns) { bytes in
          guard let base = bytes.baseAddress else { return }
          let target = base.assumingMemoryBound(to: Float.self) + x
          store(rows.0, target)
          store(rows.1, target + bufferColumns)
          store(rows.2, target + 2 &* bufferColumns)
          store(rows.3, target + 3 &* bufferColumns)
          store(rows.4, target + 4 &* bufferColumns)
        }
        x &+= lanes
      }
      let target = a.transformed + (tile &* a.tileStride &+ plane)
      withUnsafeBytes(of: &columns) { bytes in
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: Float.self) else { return }
        for y in 0..<5 {
          var d = base + y &* bufferColumns
          var t = target + 5 &* y &* a.pointStride
          for _ in 0..<count {
            let odd = d[3] - d[1]
            let next = d[3] - d[2]
            t[0] = 2 * (d[0] - d[2]) + odd
            t[a.pointStride] = next - 2 * d[1]
            t[2 &* a.pointStride] = 2 * (d[1] - d[2]) + next
            t[3 &* a.pointStride] = odd
            t[4 &* a.pointStride] = (d[4] - d[2]) - 2 * odd
            d += 3
            t += a.tileStride
          }
        }
      }
      tile &+= count
    }
    plane &+= 1
  }
}
