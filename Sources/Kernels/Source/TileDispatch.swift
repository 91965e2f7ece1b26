import KernelInterface

/// Vectors of output channels in a full panel.
var panelVectors: Int {
  @inline(__always) get { 2 }
}

/// Whether `vectors` vectors make a full panel.
@inline(__always)
private func fillPanel(_ vectors: Int) -> Bool {
  vectorsPerBlock == panelVectors || vectors == panelVectors
}

extension TileInput {
  fileprivate var isUnrolled: Bool {
    @inline(__always) get { unrolled > 1 && run % unrolled == 0 }
  }

  /// How often a tile of `vectors` vectors prefetches a part of the weights needed next.
  func fetches(vectors: Int) -> Int {
    isUnrolled && fillPanel(vectors) ? run / unrolled &* runs : runs
  }
}

/// Computes all pixels for `vectors` (1 or 2) vectors, in tiles whose sizes differ by at most 1.
@inline(never)
func computeTiles(_ pixels: PixelRows, vectors: Int, _ task: TileTask, ahead: inout TilesAhead) {
  let tiles = pixels.tiles
  guard tiles > 0 else { return }
  let small = pixels.count / tiles
  let large = pixels.count % tiles
  var series = TileSeries(tiles: 0, walk: TileWalk(pixels), ahead: ahead)
  defer { ahead = series.ahead }
  var size = large > 0 ? small &+ 1 : small
  series.tiles = large > 0 ? large : tiles
  while true {
    if task.bytes != nil {
      if fillPanel(vectors) {
        dispatch(ByteTerms.self, Count<2>(), ByteTerms.Unrolled(), pixels: size, task, &series)
      } else {
        dispatch(ByteTerms.self, Count<1>(), Count<1>(), pixels: size, task, &series)
      }
    } else if fillPanel(vectors) {
      if task.source.isUnrolled {
        dispatch(FloatTerms.self, Count<2>(), FloatTerms.Unrolled(), pixels: size, task, &series)
      } else {
        dispatch(FloatTerms.self, Count<2>(), Count<1>(), pixels: size, task, &series)
      }
    } else {
      dispatch(FloatTerms.self, Count<1>(), Count<1>(), pixels: size, task, &series)
    }
    if size == small { return }
    size = small
    series.tiles = tiles &- large
  }
}

/// Adjacent tiles of one size: their number, the next pixel, and the weights needed next.
private struct TileSeries {
  var tiles: Int
  var walk: TileWalk
  var ahead: TilesAhead
}

/// Computes tiles of one size.
@inline(__always)
private func dispatch<let columns: Int, let steps: Int, Terms: TileArithmetic>(
  _ t: Terms.Type, _ c: Count<columns>, _ s: Count<steps>, pixels: Int, _ task: TileTask,
  _ series: inout TileSeries
) {
  switch pixels {
  case 1: compute(t, Count<1>(), c, s, task, &series)
  case 2: compute(t, Count<2>(), c, s, task, &series)
  case 3: compute(t, Count<3>(), c, s, task, &series)
  case 4: compute(t, Count<4>(), c, s, task, &series)
  #if KERNELS_AVX512 || KERNELS_AVX2 || arch(arm64)
    case 5: compute(t, Count<5>(), c, s, task, &series)
    case 6: compute(t, Count<6>(), c, s, task, &series)
  #endif
  #if KERNELS_AVX512 || arch(arm64)
    case 7: compute(t, Count<7>(), c, s, task, &series)
    case 8: compute(t, Count<8>(), c, s, task, &series)
    case 9: compute(t, Count<9>(), c, s, task, &series)
    case 10: compute(t, Count<10>(), c, s, task, &series)
    case 11: compute(t, Count<11>(), c, s, task, &series)
    case 12: compute(t, Count<12>(), c, s, task, &series)
  #endif
  #if KERNELS_AVX512
    case 13: compute(t, Count<13>(), c, s, task, &series)
    case 14: compute(t, Count<14>(), c, s, task, &series)
  #endif
  default: break
  }
}

@inline(never)
private func compute<let rows: Int, let columns: Int, let steps: Int, Terms: TileArithmetic>(
  _ terms: Terms.Type, _ rows: Count<rows>, _ columns: Count<columns>, _ steps: Count<steps>,
  _ task: TileTask,
  _ series: inout TileSeries
) {
  var walk = series.walk
  var ahead = series.ahead
  for _ in 0..<series.tiles {
    computeTile(terms, columns, steps, task, walk.next(rows), ahead: ahead.part())
  }
  series.walk = walk
  series.ahead = ahead
}
