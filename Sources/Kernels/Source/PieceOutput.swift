import KernelInterface

extension Table {
  @inline(never)
  package static func pieceOutput(_ a: PieceOutput) {
    let rows = min(3, a.extent.rows)
    var block = 0
    while block < a.extent.blocks {
      var lane = 0
      while lane < channelBlock {
        let channel = block &* channelBlock &+ lane
        let bias = a.epilogue.bias.map { load($0 + channel) } ?? .zero
        var tile = 0
        while tile < a.tiles {
          let columns = min(3, a.extent.width &- 3 &* tile)
          let offset = 3 &* tile &* channelBlock &+ lane
          let result = pieceOutputTile(
            a.products.base + (block &* a.blockStride &+ tile &* channelBlock &+ lane),
            stride: a.products.stride)
          for y in 0..<3 where y < rows {
            let target =
              a.output.base
              + (block &* a.output.strides.block &+ y &* a.output.strides.row &+ offset)
            var pixels: Tile<3, 1> = zeros()
            for x in 0..<3 { pixels[x][0] = result[x][y] + bias }
            activate(&pixels, a.epilogue.activation, channel: channel)
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
