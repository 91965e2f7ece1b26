/// Divides the prefetching of the weights needed next among the tiles that use the current ones:
/// each run of inputs of a tile prefetches a part of what is `distance` floats after the run's
/// weights.
struct TilesAhead {
  private var part: TileAhead
  private let step: Int
  private let end: Int

  /// Prefetches nothing.
  static var none: TilesAhead {
    @inline(__always) get { TilesAhead(distance: 0, runFloats: 0, tiles: 1) }
  }

  init(distance: Int, runFloats: Int, tiles: Int) {
    let lines = (runFloats &+ 15) / 16
    let perTile = max(1, (lines &+ tiles &- 1) / max(1, tiles))
    part = TileAhead(distance: distance, lines: perTile)
    step = perTile &* 16
    end = distance &+ runFloats
  }

  mutating func next() -> TileAhead {
    if part.distance >= end { return TileAhead() }
    defer { part.distance &+= step }
    return part
  }
}
