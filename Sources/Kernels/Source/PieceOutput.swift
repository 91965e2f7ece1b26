import KernelInterface

extension Table {
  @inline(never)
  package static func pieceOutput(
    products: UnsafePointer<Float>, pointStride: Int, blockStride: Int, tiles: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, extent: Extent, epilogue: Epilogue
  ) {
    let rows = min(3, extent.rows)
    var block = 0
    while block < extent.blocks {
      var lane = 0
      while lane < channelBlock {
        let channel = block &* channelBlock &+ lane
        let bias = epilogue.bias.map { load($0 + channel) } ?? .zero
        var tile = 0
        while tile < tiles {
          let columns = min(3, extent.width &- 3 &* tile)
          let offset = 3 &* tile &* channelBlock &+ lane
          let result = pieceOutputTile(
            products + (block &* blockStride &+ tile &* channelBlock &+ lane), stride: pointStride)
          for y in 0..<3 where y < rows {
            let target = output + (block &* outputStrides.block &+ y &* outputStrides.row &+ offset)
            var pixels: Tile<3, 1> = zeros()
            for x in 0..<3 { pixels[x][0] = result[x][y] + bias }
            activate(&pixels, epilogue.activation, channel: channel)
            for x in 0..<3 where x < columns { store(pixels[x][0], target + x &* channelBlock) }
          }
          tile &+= 1
        }
        lane &+= lanes
      }
      block &+= 1
    }
  }
}
