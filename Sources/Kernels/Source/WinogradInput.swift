import KernelInterface

/// Where a tile lies.
struct WinogradTile {
  var image: Int
  /// Of the output.
  var row: Int
  var column: Int

  @inline(__always)
  init(_ index: Int, _ tiles: WinogradTiles) {
    let across = (tiles.width &+ 3) / 4
    let down = (tiles.rows &+ 3) / 4
    image = index / (across &* down)
    let rest = index % (across &* down)
    row = rest / across &* 4
    column = rest % across &* 4
  }
}

/// See `WinogradInputArguments`.
@inline(never)
func winogradInput(_ a: WinogradInputArguments) {
  var tile = 0
  while tile < a.tiles.count {
    let place = WinogradTile(a.tiles.first &+ tile, a.tiles)
    let rows = min(6, a.tiles.rows &+ 2 &- place.row)
    let columns = min(6, a.tiles.width &+ 2 &- place.column)
    var source =
      a.input
      + (place.image &* a.inputImageStride &+ a.firstBlock &* a.inputBlockStride
        &+ place.row &* a.inputRowStride &+ place.column &* channelBlock)
    var target = a.transformed + (tile &* a.tileStride &+ a.firstBlock &* channelBlock)
    var block = 0
    while block < a.blocks {
      var lane = 0
      while lane < channelBlock {
        let from = source + lane
        if rows == 6 && columns == 6 {
          transformTile(to: target + lane, pointStride: a.pointStride) { y, x in
            load(from + (y &* a.inputRowStride &+ x &* channelBlock))
          }
        } else {
          transformTile(to: target + lane, pointStride: a.pointStride) { y, x in
            y < rows && x < columns
              ? load(from + (y &* a.inputRowStride &+ x &* channelBlock)) : .zero
          }
        }
        lane &+= lanes
      }
      source += a.inputBlockStride
      target += channelBlock
      block &+= 1
    }
    tile &+= 1
  }
}

/// One vector of channels of one tile.
@inline(__always)
private func transformTile(
  to target: UnsafeMutablePointer<Float>, pointStride: Int, _ value: (Int, Int) -> Vector
) {
  // [column][row]
  var half = InlineArray<6, InlineArray<6, Vector>>(repeating: InlineArray(repeating: .zero))
  for x in 0..<6 {
    let column = winogradInput(
      (value(0, x), value(1, x), value(2, x), value(3, x), value(4, x), value(5, x)))
    half[x][0] = column.0
    half[x][1] = column.1
    half[x][2] = column.2
    half[x][3] = column.3
    half[x][4] = column.4
    half[x][5] = column.5
  }
  for y in 0..<6 {
    let row = winogradInput(
      (half[0][y], half[1][y], half[2][y], half[3][y], half[4][y], half[5][y]))
    let t = target + 6 &* y &* pointStride
    store(row.0, t)
    store(row.1, t + pointStride)
    store(row.2, t + 2 &* pointStride)
    store(row.3, t + 3 &* pointStride)
    store(row.4, t + 4 &* pointStride)
    store(row.5, t + 5 &* pointStride)
  }
}
