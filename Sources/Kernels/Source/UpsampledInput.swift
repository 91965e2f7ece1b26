import KernelInterface

/// Where a tile lies; see `UpsampledTiles`.
struct UpsampledTile {
  /// The first position of phase 0, in the small input.
  private(set) var row: Int
  private(set) var column: Int
  private let width: Int

  @inline(__always)
  init(_ tiles: UpsampledTiles) {
    let across = UpsampledTiles.across(tiles.width)
    row = tiles.first / across &* 5
    column = tiles.first % across &* 5
    width = tiles.width
  }

  @inline(__always)
  mutating func advance() {
    column &+= 5
    if column <= width { return }
    column = 0
    row &+= 5
  }
}

/// See `UpsampledInputArguments`.
@inline(never)
func upsampledInput(_ a: UpsampledInputArguments) {
  withUnsafeTemporaryAllocation(of: Vector.self, capacity: 36) { half in
    guard let half = half.baseAddress else { return }
    transformInput(a, half)
  }
}

@inline(__always)
private func transformInput(_ a: UpsampledInputArguments, _ half: UnsafeMutablePointer<Vector>) {
  var channel = 0
  while channel < a.blocks &* channelBlock {
    let plane =
      a.input + (channel / channelBlock &* a.inputBlockStride &+ channel % channelBlock)
    var place = UpsampledTile(a.tiles)
    var tile = 0
    while tile < a.tiles.count {
      let (row, column) = (place.row &- 1, place.column &- 1)
      let source = plane + (row &* a.inputRowStride &+ column &* channelBlock)
      let target = a.transformed + (tile &* a.tileStride &+ channel)
      if row >= 0 && column >= 0 && row &+ 6 <= a.tiles.rows && column &+ 6 <= a.tiles.width {
        transformTile(
          Winograd4.self, Winograd4.self, half, to: target, pointStride: a.pointStride
        ) { y, x in
          load(source + (y &* a.inputRowStride &+ x &* channelBlock))
        }
      } else {
        transformTile(
          Winograd4.self, Winograd4.self, half, to: target, pointStride: a.pointStride
        ) { y, x in
          let isInside =
            row &+ y >= 0 && row &+ y < a.tiles.rows && column &+ x >= 0
            && column &+ x < a.tiles.width
          return isInside
            ? load(source + (y &* a.inputRowStride &+ x &* channelBlock)) : .zero
        }
      }
      place.advance()
      tile &+= 1
    }
    channel &+= lanes
  }
}
