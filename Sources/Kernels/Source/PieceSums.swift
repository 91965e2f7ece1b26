import KernelInterface

extension Table {
  @inline(never)
  package static func pieceSums(
    products: UnsafePointer<Float>, tileStride: Int, tiles: Int, pieces: Int, channels: Int,
    sums: UnsafeMutablePointer<Float>, accumulates: Bool
  ) {
    let step = tileStride &+ channels
    var tile = 0
    while tile < tiles {
      let target = UnsafeMutableRawPointer(sums + 4 &* tile)
      var product = UnsafeRawPointer(products + tile &* tileStride)
      var sum = accumulates ? target.loadUnaligned(as: SIMD4<Float>.self) : .zero
      var piece = 0
      while piece < pieces {
        sum += product.loadUnaligned(as: SIMD4<Float>.self)
        product += step &* 4
        piece &+= 1
      }
      target.storeBytes(of: sum, as: SIMD4<Float>.self)
      tile &+= 1
    }
  }
}

extension Table {
  /// Computes as many tiles at once as have their channels in one vector.
  @inline(never)
  package static func pieceSumOutput(
    sums: UnsafePointer<Float>, pointStride: Int, tiles: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, extent: Extent,
    bias: UnsafePointer<Float>?
  ) {
    let rows = min(3, extent.rows)
    let biases =
      bias.map { UnsafeRawPointer($0).loadUnaligned(as: SIMD4<Float>.self) } ?? .zero
    let tilesAtOnce = lanes / 4
    var tile = 0
    while tile < tiles {
      let result = pieceOutputTile(sums + 4 &* tile, stride: pointStride)
      let count = min(tilesAtOnce, tiles &- tile)
      for y in 0..<3 where y < rows {
        for x in 0..<3 {
          let values = result[x][y]
          for n in 0..<count {
            let column = 3 &* (tile &+ n) &+ x
            if column >= extent.width { break }
            let target = output + (y &* outputStrides.row &+ column)
            for c in 0..<extent.blocks {
              target[c &* outputStrides.block] = values[4 &* n &+ c] + biases[c]
            }
          }
        }
      }
      tile &+= tilesAtOnce
    }
  }
}
