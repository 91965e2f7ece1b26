import KernelInterface

extension Table {
  @inline(never)
  package static func upsampledOutput(_ a: UpsampledOutput) {
    let tiles = a.tiles
    let (phaseY, phaseX) = (a.phase &>> 1, a.phase & 1)
    let pointStride = a.products.stride
    let rowStride = a.output.strides.row
    withUnsafeTemporaryAllocation(of: Vector.self, capacity: 30) { half in
      guard let half = half.baseAddress else { return }
      var lane = 0
      while lane < channelBlock {
        let bias = a.epilogue.bias.map { load($0 + lane) } ?? .zero
        var location = UpsampledTile(tiles)
        var tile = 0
        while tile < tiles.count {
          // [column][row], after the first of the two axes.
          var m = UnsafePointer(a.products.base) + (tile &* channelBlock &+ lane)
          for y in 0..<6 {
            let line = phaseOutput { load(m + $0 &* pointStride) }
            for x in 0..<5 { half[x &* 6 &+ y] = line[x] }
            m += 6 &* pointStride
          }
          let (row, column) = (location.row &- phaseY, location.column &- phaseX)
          for x in 0..<5 {
            let from = half + 6 &* x
            let line = phaseOutput { from[$0] }
            if column &+ x < 0 || column &+ x >= tiles.width { continue }
            var pixels: Tile<5, 1> = zeros()
            for y in 0..<5 { pixels[y][0] = line[y] + bias }
            activate(&pixels, a.epilogue.activation, channel: lane)
            let target =
              a.output.base
              + ((2 &* row &+ phaseY) &* rowStride
                &+ (2 &* (column &+ x) &+ phaseX) &* channelBlock &+ lane)
            for y in 0..<5 where row &+ y >= 0 && row &+ y < tiles.rows {
              store(pixels[y][0], target + 2 &* y &* rowStride)
            }
          }
          location.advance()
          tile &+= 1
        }
        lane &+= lanes
      }
    }
  }
}

/// `Aᵀ m`; see `UpsampledTiles`.
@inline(__always)
private func phaseOutput(_ m: (Int) -> Vector) -> InlineArray<5, Vector> {
  let (m0, m1, m2, m3, m4, m5) = (m(0), m(1), m(2), m(3), m(4), m(5))
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
