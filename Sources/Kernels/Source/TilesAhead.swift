/// Divides the prefetching of the weights needed next among the tiles that use the current ones:
/// each tile prefetches a part, a few lines for every few inputs. Prefetching many lines at once
/// would take the fill buffers that the current weights need.
struct TilesAhead {
  private var next: UnsafePointer<Float>
  private let end: UnsafePointer<Float>
  private let tileFloats: Int
  private let lines: Int

  /// - Parameters:
  ///   - weights: the weights needed next; may point anywhere.
  ///   - floats: the number of weights.
  ///   - fetches: `TileInput.fetches(vectors:)`.
  init(_ weights: UnsafePointer<Float>, floats: Int, fetches: Int, tiles: Int) {
    let parts = max(1, tiles &* fetches)
    lines = (floats &+ lineFloats &* parts &- 1) / (lineFloats &* parts)
    tileFloats = lines &* lineFloats &* fetches
    next = weights
    end = weights + floats
  }

  mutating func part() -> TileAhead {
    if next >= end { return TileAhead(address: next, lines: 0) }
    defer { next += tileFloats }
    return TileAhead(address: next, lines: lines)
  }
}

/// Weights to prefetch while a tile is computed: `lines` cache lines for every few inputs.
struct TileAhead {
  var address: UnsafePointer<Float>
  let lines: Int

  @inline(__always)
  mutating func fetchPart() {
    fetch(address, lines: lines)
    address += lines &* lineFloats
  }
}
