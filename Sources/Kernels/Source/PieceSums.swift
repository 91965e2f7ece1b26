import KernelInterface

extension Table {
  @inline(never)
  package static func pieceSums(_ a: PieceSums) {
    let step = a.products.strides.pixel &+ a.channels
    var tile = 0
    while tile < a.tiles {
      let target = UnsafeMutableRawPointer(a.sums + 4 &* tile)
      var product = UnsafeRawPointer(a.products.base + tile &* a.products.strides.pixel)
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
}

extension Table {
  /// Computes as many tiles at a time as fit with their channels into one vector.
  @inline(never)
  package static func pieceSumOutput(_ a: PieceOutput) {
    let rows = min(3, a.extent.rows)
    let biases =
      a.epilogue.bias.map { UnsafeRawPointer($0).loadUnaligned(as: SIMD4<Float>.self) } ?? .zero
    let tilesAtOnce = lanes / 4
    var tile = 0
    while tile < a.tiles {
      let result = pieceOutputTile(a.products.base + 4 &* tile, stride: a.products.stride)
      let count = min(tilesAtOnce, a.tiles &- tile)
      for y in 0..<3 where y < rows {
        for x in 0..<3 {
          let values = result[x][y]
          for n in 0..<count {
            let column = 3 &* (tile &+ n) &+ x
            if column >= a.extent.width { break }
            let target = a.output.base + (y &* a.output.strides.row &+ column)
            for c in 0..<a.extent.blocks {
              target[c &* a.output.strides.block] = values[4 &* n &+ c] + biases[c]
            }
          }
        }
      }
      tile &+= tilesAtOnce
    }
  }
}
