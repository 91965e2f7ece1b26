import KernelInterface

/// See `UpsampledOutputArguments`.
@inline(never)
func upsampledOutput(_ a: UpsampledOutputArguments) {
  withUnsafeTemporaryAllocation(of: Vector.self, capacity: 30) { half in
    guard let half = half.baseAddress else { return }
    var lane = 0
    while lane < channelBlock {
      transformOutput(a, lane: lane, half)
      lane &+= lanes
    }
  }
}

@inline(__always)
private func transformOutput(
  _ a: UpsampledOutputArguments, lane: Int, _ half: UnsafeMutablePointer<Vector>
) {
  let bias = a.bias.map { load($0 + lane) } ?? .zero
  var place = UpsampledTile(a.tiles)
  var tile = 0
  while tile < a.tiles.count {
    // [column][row], after the first of the two axes.
    var m = a.products + (tile &* channelBlock &+ lane)
    for y in 0..<6 {
      let line = phaseOutput(
        load(m), load(m + a.pointStride), load(m + 2 &* a.pointStride),
        load(m + 3 &* a.pointStride), load(m + 4 &* a.pointStride), load(m + 5 &* a.pointStride))
      for x in 0..<5 { half[x &* 6 &+ y] = line[x] }
      m += 6 &* a.pointStride
    }
    let (row, column) = (place.row &- a.phaseY, place.column &- a.phaseX)
    for x in 0..<5 {
      let from = half + 6 &* x
      let line = phaseOutput(from[0], from[1], from[2], from[3], from[4], from[5])
      if column &+ x < 0 || column &+ x >= a.tiles.width { continue }
      var pixels = Tile<5, 1>(repeating: InlineArray(repeating: .zero))
      for y in 0..<5 { pixels[y][0] = line[y] + bias }
      activate(&pixels, a.epilogue, channel: lane)
      let target =
        a.output
        + ((2 &* row &+ a.phaseY) &* a.outputRowStride
          &+ (2 &* (column &+ x) &+ a.phaseX) &* channelBlock &+ lane)
      for y in 0..<5 where row &+ y >= 0 && row &+ y < a.tiles.rows {
        store(pixels[y][0], target + 2 &* y &* a.outputRowStride)
      }
    }
    place.advance()
    tile &+= 1
  }
}

/// `Aᵀ m`; see `UpsampledTiles`.
@inline(__always)
private func phaseOutput(
  _ m0: Vector, _ m1: Vector, _ m2: Vector, _ m3: Vector, _ m4: Vector, _ m5: Vector
) -> InlineArray<5, Vector> {
  let sum = m1 + m2
  let difference = m1 - m2
  return [
    (m0 + sum) + (m3 + m4),
    multiplyAdd(splat(-2), m4, multiplyAdd(splat(0.5), m3, difference)),
    multiplyAdd(splat(4), m4, multiplyAdd(splat(0.25), m3, sum)),
    multiplyAdd(splat(-8), m4, multiplyAdd(splat(0.125), m3, difference)),
    multiplyAdd(splat(16), m4, multiplyAdd(splat(0.0625), m3, sum + m5)),
  ]
}
