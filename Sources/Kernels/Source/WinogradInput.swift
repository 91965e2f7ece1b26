import CVector
import KernelInterface

/// The location of a tile. Tiles are consecutive; only the first one needs divisions.
struct WinogradTile {
  private(set) var image: Int
  /// Row of the output.
  private(set) var row: Int
  private(set) var column: Int
  private let down: Int
  private let across: Int
  private let rows: Int
  private let width: Int

  @inline(__always)
  init(_ tiles: WinogradTiles) {
    rows = tiles.rows
    width = tiles.width
    down = tiles.form.vertical.outputs
    across = tiles.form.horizontal.outputs
    let columns = (width &+ across &- 1) / across
    let perImage = columns &* ((rows &+ down &- 1) / down)
    image = tiles.first / perImage
    let rest = tiles.first % perImage
    row = rest / columns &* down
    column = rest % columns &* across
  }

  @inline(__always)
  mutating func advance() {
    column &+= across
    if column < width { return }
    column = 0
    row &+= down
    if row < rows { return }
    row = 0
    image &+= 1
  }
}

extension Table {
  @inline(never)
  package static func winogradInput(_ tiles: WinogradTiles, _ a: InputTransformArguments) {
    withUnsafeTemporaryAllocation(of: Vector.self, capacity: 64) { half in
      guard let half = half.baseAddress else { return }
      tiles.form.perform(InputTransform(tiles: tiles, a: a, half: half))
    }
  }
}

private struct InputTransform: WinogradTask {
  let tiles: WinogradTiles
  let a: InputTransformArguments
  let half: UnsafeMutablePointer<Vector>

  @inline(__always)
  func run<V: WinogradTransform, H: WinogradTransform>(_: V.Type, _: H.Type) {
    let first = WinogradTile(tiles)
    let end = a.blocks.upperBound &* channelBlock
    var channel = a.blocks.lowerBound &* channelBlock
    while channel < end {
      // Results in the same cache line are written together.
      let next = min(channel &+ lineFloats, end)
      var location = first
      var tile = 0
      while tile < tiles.count {
        let target = a.transformed + tile &* a.transformedStrides.tile
        var own = channel
        while own < next {
          transform(V.self, H.self, location, channel: own, to: target + own)
          own &+= lanes
        }
        location.advance()
        tile &+= 1
      }
      channel = next
    }
  }

  /// Transforms one vector of channels of one tile.
  @inline(__always)
  private func transform<V: WinogradTransform, H: WinogradTransform>(
    _: V.Type, _: H.Type, _ location: WinogradTile, channel: Int,
    to target: UnsafeMutablePointer<Float>
  ) {
    let rows = tiles.rows &+ V.taps &- 1 &- location.row
    let columns = tiles.width &+ H.taps &- 1 &- location.column
    let block: Int = channel / channelBlock &* a.input.strides.block &+ channel % channelBlock
    let pixel: Int = location.row &* a.input.strides.row &+ location.column &* channelBlock
    let source = a.input.base + (location.image &* a.input.strides.image &+ block &+ pixel)
    fetchAhead(source, rows: V.points, from: H.points &+ H.outputs, columns: H.outputs)
    let points = PointBuffer(target, stride: a.transformedStrides.point)
    if rows >= V.points && columns >= H.points {
      transformTile(V.self, H.self, half, to: points) { y, x in
        load(source + (y &* a.input.strides.row &+ x &* channelBlock))
      }
    } else {
      transformTile(V.self, H.self, half, to: points) { y, x in
        y < rows && x < columns
          ? load(source + (y &* a.input.strides.row &+ x &* channelBlock)) : .zero
      }
    }
  }

  /// Prefetches the input of the second tile to the right that its left neighbor does not read: the
  /// rows are more streams than the hardware prefetcher tracks.
  @inline(__always)
  private func fetchAhead(_ source: UnsafePointer<Float>, rows: Int, from: Int, columns: Int) {
    for y in 0..<rows {
      let row = source + (y &* a.input.strides.row &+ from &* channelBlock)
      var float = 0
      while float < columns &* channelBlock {
        vector_prefetch(row + float)
        float &+= lineFloats
      }
    }
  }
}

/// Transforms one vector of channels of one tile. `half` stores `[column][row]` after the first of
/// the two axes.
@inline(__always)
func transformTile<V: TileTransform, H: TileTransform>(
  _: V.Type, _: H.Type, _ half: UnsafeMutablePointer<Vector>, to target: PointBuffer,
  _ value: (Int, Int) -> Vector
) {
  for x in 0..<H.points {
    var line = WinogradLine(repeating: .zero)
    for y in 0..<V.points { line[y] = value(y, x) }
    let column = V.input(line)
    for y in 0..<V.points { half[x &* V.points &+ y] = column[y] }
  }
  var to = target.base
  for y in 0..<V.points {
    var line = WinogradLine(repeating: .zero)
    for x in 0..<H.points { line[x] = half[x &* V.points &+ y] }
    let row = H.input(line)
    for x in 0..<H.points {
      store(row[x], to)
      to += target.stride
    }
  }
}
