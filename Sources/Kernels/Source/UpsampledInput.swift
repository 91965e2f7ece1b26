import KernelInterface

/// The location of a tile; see `UpsampledTiles`.
struct UpsampledTile {
  /// The first row and column of phase 0 in the small input.
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

extension Table {
  @inline(never)
  package static func upsampledInput(_ tiles: UpsampledTiles, _ a: InputTransformArguments) {
    withUnsafeTemporaryAllocation(of: Vector.self, capacity: 36) { half in
      guard let half = half.baseAddress else { return }
      transformInput(tiles, a, half)
    }
  }
}

@inline(__always)
private func transformInput(
  _ tiles: UpsampledTiles, _ a: InputTransformArguments, _ half: UnsafeMutablePointer<Vector>
) {
  var channel = a.blocks.lowerBound &* channelBlock
  while channel < a.blocks.upperBound &* channelBlock {
    let plane =
      a.input.base + (channel / channelBlock &* a.input.strides.block &+ channel % channelBlock)
    var location = UpsampledTile(tiles)
    var tile = 0
    while tile < tiles.count {
      let (row, column) = (location.row &- 1, location.column &- 1)
      let source = plane + (row &* a.input.strides.row &+ column &* channelBlock)
      let target = PointBuffer(
        a.transformed + (tile &* a.transformedStrides.tile &+ channel),
        stride: a.transformedStrides.point)
      if row >= 0 && column >= 0 && row &+ 6 <= tiles.rows && column &+ 6 <= tiles.width {
        transformTile(Winograd4.self, Winograd4.self, half, to: target) { y, x in
          load(source + (y &* a.input.strides.row &+ x &* channelBlock))
        }
      } else {
        transformTile(Winograd4.self, Winograd4.self, half, to: target) { y, x in
          let isInside =
            row &+ y >= 0 && row &+ y < tiles.rows && column &+ x >= 0
            && column &+ x < tiles.width
          return isInside
            ? load(source + (y &* a.input.strides.row &+ x &* channelBlock)) : .zero
        }
      }
      location.advance()
      tile &+= 1
    }
    channel &+= lanes
  }
}
