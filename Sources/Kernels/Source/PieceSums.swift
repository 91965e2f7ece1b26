import KernelInterface

/// See `PieceSumArguments`.
@inline(never)
func pieceSums(_ a: PieceSumArguments) {
  let step = a.productTileStride &+ a.channels
  var tile = 0
  while tile < a.tiles {
    let target = UnsafeMutableRawPointer(a.sums + 4 &* tile)
    var product = UnsafeRawPointer(a.products + tile &* a.productTileStride)
    var sum = a.accumulates ? target.loadUnaligned(as: SIMD4<Float>.self) : .zero
    var piece = 0
    while piece < a.pieces {
      sum += product.loadUnaligned(as: SIMD4<Float>.self)
      product += step &* 4
      piece &+= 1
    }
    target.storeBytes(of: sum, as: SIMD4<Float>.self)
    tile &+= 1
  }
}

/// See `PieceSumOutputArguments`. As many tiles at once as have their channels in a vector.
@inline(never)
func pieceSumOutput(_ a: PieceSumOutputArguments) {
  let rows = min(3, a.rows)
  let bias =
    a.bias.map { UnsafeRawPointer($0).loadUnaligned(as: SIMD4<Float>.self) } ?? .zero
  let tilesAtOnce = lanes / 4
  var tile = 0
  while tile < a.tiles {
    let result = pieceOutputTile(a.sums + 4 &* tile, stride: a.pointStride)
    let count = min(tilesAtOnce, a.tiles &- tile)
    for y in 0..<3 where y < rows {
      for x in 0..<3 {
        let values = result[x][y]
        for n in 0..<count {
          let column = 3 &* (tile &+ n) &+ x
          if column >= a.width { break }
          let target = a.output + (y &* a.outputRowStride &+ column)
          for c in 0..<a.channels {
            target[c &* a.outputPlaneStride] = values[4 &* n &+ c] + bias[c]
          }
        }
      }
    }
    tile &+= tilesAtOnce
  }
}
