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
        dispatch(ByteTerms.Panel(), pixels: size, task, &series)
      } else {
        dispatch(TileForm<1, 1, ByteTerms>(), pixels: size, task, &series)
      }
    } else if fillPanel(vectors) {
      if task.source.isUnrolled {
        dispatch(FloatTerms.Panel(), pixels: size, task, &series)
      } else {
        dispatch(TileForm<2, 1, FloatTerms>(), pixels: size, task, &series)
      }
    } else {
      dispatch(TileForm<1, 1, FloatTerms>(), pixels: size, task, &series)
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
  _ form: TileForm<columns, steps, Terms>, pixels: Int, _ task: TileTask,
  _ series: inout TileSeries
) {
  switch pixels {
  case 1: compute(form, Count<1>(), task, &series)
  case 2: compute(form, Count<2>(), task, &series)
  case 3: compute(form, Count<3>(), task, &series)
  case 4: compute(form, Count<4>(), task, &series)
  #if KERNELS_AVX512 || KERNELS_AVX2 || arch(arm64)
    case 5: compute(form, Count<5>(), task, &series)
    case 6: compute(form, Count<6>(), task, &series)
  #endif
  #if KERNELS_AVX512 || arch(arm64)
    case 7: compute(form, Count<7>(), task, &series)
    case 8: compute(form, Count<8>(), task, &series)
    case 9: compute(form, Count<9>(), task, &series)
    case 10: compute(form, Count<10>(), task, &series)
    case 11: compute(form, Count<11>(), task, &series)
    case 12: compute(form, Count<12>(), task, &series)
  #endif
  #if KERNELS_AVX512
    case 13: compute(form, Count<13>(), task, &series)
    case 14: compute(form, Count<14>(), task, &series)
  #endif
  default: break
  }
}

@inline(never)
private func compute<let rows: Int, let columns: Int, let steps: Int, Terms: TileArithmetic>(
  _ form: TileForm<columns, steps, Terms>, _ rows: Count<rows>, _ task: TileTask,
  _ series: inout TileSeries
) {
  var walk = series.walk
  var ahead = series.ahead
  for _ in 0..<series.tiles {
    computeTile(form, task, walk.next(rows), ahead: ahead.part())
  }
  series.walk = walk
  series.ahead = ahead
}
