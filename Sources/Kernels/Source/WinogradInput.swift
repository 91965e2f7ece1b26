import KernelInterface

/// Where a tile lies. Tiles follow one another; only the first one's place takes divisions.
struct WinogradTile {
  private(set) var image: Int
  /// Of the output.
  private(set) var row: Int
  private(set) var column: Int
  private let size: Int
  private let rows: Int
  private let width: Int

  @inline(__always)
  init(_ tiles: WinogradTiles) {
    size = tiles.size
    rows = tiles.rows
    width = tiles.width
    let across = (width &+ size &- 1) / size
    let down = (rows &+ size &- 1) / size
    image = tiles.first / (across &* down)
    let rest = tiles.first % (across &* down)
    row = rest / across &* size
    column = rest % across &* size
  }

  @inline(__always)
  mutating func advance() {
    column &+= size
    if column < width { return }
    column = 0
    row &+= size
    if row < rows { return }
    row = 0
    image &+= 1
  }
}

/// See `WinogradInputArguments`.
@inline(never)
func winogradInput(_ a: WinogradInputArguments) {
  withUnsafeTemporaryAllocation(of: Vector.self, capacity: 64) { half in
    guard let half = half.baseAddress else { return }
    switch a.tiles.size {
    case 2: transformInput(a, Winograd2.self, half)
    case 4: transformInput(a, Winograd4.self, half)
    default: transformInput(a, Winograd6.self, half)
    }
  }
}

@inline(__always)
private func transformInput<T: WinogradTransform>(
  _ a: WinogradInputArguments, _: T.Type, _ half: UnsafeMutablePointer<Vector>
) {
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
      if rows >= T.edge && columns >= T.edge {
        transformTile(T.self, half, to: target, pointStride: a.pointStride) { y, x in
          load(source + (y &* a.inputRowStride &+ x &* channelBlock))
        }
      } else {
        transformTile(T.self, half, to: target, pointStride: a.pointStride) { y, x in
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

/// One vector of channels of one tile. `half` keeps `[column][row]` after the first of the two axes.
@inline(__always)
private func transformTile<T: WinogradTransform>(
  _: T.Type, _ half: UnsafeMutablePointer<Vector>, to target: UnsafeMutablePointer<Float>,
  pointStride: Int, _ value: (Int, Int) -> Vector
) {
  for x in 0..<T.edge {
    var line = WinogradLine(repeating: .zero)
    for y in 0..<T.edge { line[y] = value(y, x) }
    let column = T.input(line)
    for y in 0..<T.edge { half[x &* T.edge &+ y] = column[y] }
  }
  var to = target
  for y in 0..<T.edge {
    var line = WinogradLine(repeating: .zero)
    for x in 0..<T.edge { line[x] = half[x &* T.edge &+ y] }
    let row = T.input(line)
    for x in 0..<T.edge {
      store(row[x], to)
      to += pointStride
    }
  }
}
