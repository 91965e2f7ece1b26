import KernelInterface

/// Where a tile lies. Tiles follow one another; only the first one's place takes divisions.
struct WinogradTile {
  private(set) var image: Int
  /// Of the output.
  private(set) var row: Int
  private(set) var column: Int
  private let rows: Int
  private let width: Int

  @inline(__always)
  init(_ tiles: WinogradTiles) {
    rows = tiles.rows
    width = tiles.width
    let across = (width &+ 3) / 4
    let down = (rows &+ 3) / 4
    image = tiles.first / (across &* down)
    let rest = tiles.first % (across &* down)
    row = rest / across &* 4
    column = rest % across &* 4
  }

  @inline(__always)
  mutating func advance() {
    column &+= 4
    if column < width { return }
    column = 0
    row &+= 4
    if row < rows { return }
    row = 0
    image &+= 1
  }
}

/// See `WinogradInputArguments`.
@inline(never)
func winogradInput(_ a: WinogradInputArguments) {
  let first = WinogradTile(a.tiles)
  var channel = a.firstBlock &* channelBlock
  while channel < (a.firstBlock &+ a.blocks) &* channelBlock {
    let plane =
      a.input + (channel / channelBlock &* a.inputBlockStride &+ channel % channelBlock)
    var place = first
    var tile = 0
    while tile < a.tiles.count {
      let rows = a.tiles.rows &+ 2 &- place.row
      let columns = a.tiles.width &+ 2 &- place.column
      let source =
        plane
        + (place.image &* a.inputImageStride &+ place.row &* a.inputRowStride
          &+ place.column &* channelBlock)
      let target = a.transformed + (tile &* a.tileStride &+ channel)
      if rows >= 6 && columns >= 6 {
        transformTile(to: target, pointStride: a.pointStride) { y, x in
          load(source + (y &* a.inputRowStride &+ x &* channelBlock))
        }
      } else {
        transformTile(to: target, pointStride: a.pointStride) { y, x in
          y < rows && x < columns
            ? load(source + (y &* a.inputRowStride &+ x &* channelBlock)) : .zero
        }
      }
      place.advance()
      tile &+= 1
    }
    channel &+= lanes
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
