import KernelInterface

/// Vectors of output channels in a full panel.
@inline(__always)
var panelVectors: Int { 2 }

/// Whether `vectors` vectors make a full panel.
@inline(__always)
private func fillPanel(_ vectors: Int) -> Bool {
  vectorsPerBlock == panelVectors || vectors == panelVectors
}

extension TileInput {
  @inline(__always)
  fileprivate var isUnrolled: Bool { unrolled > 1 && run % unrolled == 0 }

  /// How often a tile of `vectors` vectors prefetches a part of the weights needed next.
  func fetches(vectors: Int) -> Int {
    isUnrolled && fillPanel(vectors) ? run / unrolled &* runs : runs
  }
}

/// Computes all pixels for `vectors` (1 or 2) vectors.
@inline(never)
func computeTiles(_ pixels: PixelRows, vectors: Int, _ task: TileTask, ahead: inout TilesAhead) {
  guard pixels.count > 0 else { return }
  var series = TileSeries(tiles: 0, walk: TileWalk(pixels), ahead: ahead)
  defer { ahead = series.ahead }
  if fillPanel(vectors) && task.bytes == nil
    && (FloatTerms.unrolled == 1 || task.source.isUnrolled)
  {
    computeEvenly(pixels, task, &series)
  } else if fillPanel(vectors) && task.bytes == nil {
    computeGreedily(TileForm<2, 1, FloatTerms>(), pixels, task, &series)
  } else if fillPanel(vectors) {
    computeGreedily(ByteTerms.Panel(), pixels, task, &series)
  } else if task.bytes == nil {
    computeGreedily(TileForm<1, 1, FloatTerms>(), pixels, task, &series)
  } else {
    computeGreedily(TileForm<1, 1, ByteTerms>(), pixels, task, &series)
  }
}

/// Adjacent tiles of one size: their number, the next pixel, and the weights needed next.
private struct TileSeries {
  var tiles: Int
  var walk: TileWalk
  var ahead: TilesAhead
}

/// Computes full panels in tiles whose sizes differ by at most 1.
private func computeEvenly(_ pixels: PixelRows, _ task: TileTask, _ series: inout TileSeries) {
  let tiles = pixels.tiles
  let small = pixels.count / tiles
  let large = pixels.count % tiles
  series.tiles = large
  if large > 0 { compute(pixels: small &+ 1, task, &series) }
  series.tiles = tiles &- large
  compute(pixels: small, task, &series)
}

private func compute(pixels: Int, _ task: TileTask, _ series: inout TileSeries) {
  let form = FloatTerms.Panel()
  switch pixels {
  case 1: computeSeries(form, Count<1>(), task, &series)
  case 2: computeSeries(form, Count<2>(), task, &series)
  case 3: computeSeries(form, Count<3>(), task, &series)
  case 4: computeSeries(form, Count<4>(), task, &series)
  #if KERNELS_AVX512 || KERNELS_AVX2 || arch(arm64)
    case 5: computeSeries(form, Count<5>(), task, &series)
    case 6: computeSeries(form, Count<6>(), task, &series)
  #endif
  #if KERNELS_AVX512 || arch(arm64)
    case 7: computeSeries(form, Count<7>(), task, &series)
    case 8: computeSeries(form, Count<8>(), task, &series)
    case 9: computeSeries(form, Count<9>(), task, &series)
    case 10: computeSeries(form, Count<10>(), task, &series)
    case 11: computeSeries(form, Count<11>(), task, &series)
    case 12: computeSeries(form, Count<12>(), task, &series)
  #endif
  #if KERNELS_AVX512
    case 13: computeSeries(form, Count<13>(), task, &series)
    case 14: computeSeries(form, Count<14>(), task, &series)
  #endif
  default: break
  }
}

/// Computes as many of the largest tiles as fit, then of the next size: with fewer sizes, rare kinds
/// of tiles take less time to compile.
@inline(__always)
private func computeGreedily<let columns: Int, let steps: Int, Terms: TileArithmetic>(
  _ form: TileForm<columns, steps, Terms>, _ pixels: PixelRows, _ task: TileTask,
  _ series: inout TileSeries
) {
  var left = pixels.count
  @inline(__always)
  func compute<let rows: Int>(_ count: Count<rows>) {
    series.tiles = left / rows
    left %= rows
    if series.tiles > 0 { computeSeries(form, count, task, &series) }
  }
  #if KERNELS_AVX512
    compute(Count<14>())
    compute(Count<7>())
  #elseif KERNELS_AVX2
    compute(Count<6>())
  #elseif arch(arm64)
    compute(Count<12>())
    compute(Count<6>())
  #endif
  compute(Count<4>())
  compute(Count<2>())
  compute(Count<1>())
}

@inline(never)
private func computeSeries<let rows: Int, let columns: Int, let steps: Int, Terms: TileArithmetic>(
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
