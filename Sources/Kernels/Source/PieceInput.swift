import KernelInterface

extension Table {
  @inline(never)
  package static func pieceInput(
    tiles: Int, blockChannels: Int, rows: Int, width: Int, _ a: InputTransformArguments
  ) {
    if blockChannels == 1 { return planarPieceInput(tiles: tiles, rows: rows, width: width, a) }
    withUnsafeTemporaryAllocation(of: Vector.self, capacity: 25) { half in
      guard let half = half.baseAddress else { return }
      blockedPieceInput(tiles: tiles, rows: min(5, rows), width: width, a, half)
    }
  }
}

@inline(__always)
private func blockedPieceInput(
  tiles: Int, rows: Int, width: Int, _ a: InputTransformArguments,
  _ half: UnsafeMutablePointer<Vector>
) {
  let row = a.input.strides.row
  var channel = a.blocks.lowerBound &* channelBlock
  while channel < a.blocks.upperBound &* channelBlock {
    var source =
      a.input.base + (channel / channelBlock &* a.input.strides.block &+ channel % channelBlock)
    var target = PointBuffer(a.transformed + channel, stride: a.transformedStrides.point)
    var tile = 0
    while tile < tiles {
      let from = source
      let columns = width &- 3 &* tile
      if rows == 5 && columns >= 5 {
        transformTile(PieceTransform.self, PieceTransform.self, half, to: target) { y, x in
          load(from + (y &* row &+ x &* channelBlock))
        }
      } else {
        transformTile(PieceTransform.self, PieceTransform.self, half, to: target) { y, x in
          y < rows && x < columns ? load(from + (y &* row &+ x &* channelBlock)) : .zero
        }
      }
      source += 3 &* channelBlock
      target.base += a.transformedStrides.tile
      tile &+= 1
    }
    channel &+= lanes
  }
}

/// Number of columns to transform vertically at a time, and of the tiles that start in them.
private typealias ColumnBuffer = InlineArray<320, Float>
@inline(__always)
private var bufferColumns: Int { 64 }
@inline(__always)
private var bufferTiles: Int { 20 }

/// Transforms columns in vectors of adjacent ones, then the rows of each tile.
@inline(never)
private func planarPieceInput(
  tiles: Int, rows height: Int, width: Int, _ a: InputTransformArguments
) {
  var columns = ColumnBuffer(repeating: 0)
  let pointStride = a.transformedStrides.point
  var plane = a.blocks.lowerBound
  while plane < a.blocks.upperBound {
    var tile = 0
    while tile < tiles {
      let count = min(bufferTiles, tiles &- tile)
      let source = a.input.base + (plane &* a.input.strides.block &+ 3 &* tile)
      let needed = 3 &* count &+ 2
      let columnCount = max(0, min(needed, width &- 3 &* tile))
      var x = 0
      while x < needed {
        let used = max(0, min(lanes, columnCount &- x))
        @inline(__always)
        func value(_ y: Int) -> Vector {
          if y >= height { return .zero }
          let from = source + (y &* a.input.strides.row &+ x)
          return used == lanes ? load(from) : load(from, count: used)
        }
        var line = WinogradLine(repeating: .zero)
        for y in 0..<5 { line[y] = value(y) }
        let rows = PieceTransform.input(line)
        withUnsafeMutableBytes(of: &columns) { bytes in
          guard let base = bytes.baseAddress else { return }
          let target = base.assumingMemoryBound(to: Float.self) + x
          for y in 0..<5 { store(rows[y], target + y &* bufferColumns) }
        }
        x &+= lanes
      }
      let target = a.transformed + (tile &* a.transformedStrides.tile &+ plane)
      withUnsafeBytes(of: &columns) { bytes in
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: Float.self) else { return }
        for y in 0..<5 {
          var d = base + y &* bufferColumns
          var t = target + 5 &* y &* pointStride
          for _ in 0..<count {
            let odd = d[3] - d[1]
            let next = d[3] - d[2]
            t[0] = 2 * (d[0] - d[2]) + odd
            t[pointStride] = next - 2 * d[1]
            t[2 &* pointStride] = 2 * (d[1] - d[2]) + next
            t[3 &* pointStride] = odd
            t[4 &* pointStride] = (d[4] - d[2]) - 2 * odd
            d += 3
            t += a.transformedStrides.tile
          }
        }
      }
      tile &+= count
    }
    plane &+= 1
  }
}
