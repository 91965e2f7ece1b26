import KernelInterface

/// See `PieceOutputArguments`.
@inline(never)
func pieceOutput(_ a: PieceOutputArguments) {
  let rows = min(3, a.rows)
  var block = 0
  while block < a.outputBlocks {
    var lane = 0
    while lane < channelBlock {
      let channel = block &* channelBlock &+ lane
      let bias = a.bias.map { load($0 + channel) } ?? .zero
      var tile = 0
      while tile < a.tiles {
        let columns = min(3, a.width &- 3 &* tile)
        let offset = 3 &* tile &* channelBlock &+ lane
        let result = pieceOutputTile(
          a.products + (block &* a.productBlockStride &+ tile &* channelBlock &+ lane),
          stride: a.productPointStride)
        for y in 0..<3 where y < rows {
          let target = a.output + (block &* a.outputBlockStride &+ y &* a.outputRowStride &+ offset)
          var pixels = Tile<3, 1>(repeating: InlineArray(repeating: .zero))
          for x in 0..<3 { pixels[x][0] = result[x][y] + bias }
          activate(&pixels, a.epilogue, channel: channel)
          for x in 0..<3 where x < columns { store(pixels[x][0], target + x &* channelBlock) }
        }
        tile &+= 1
      }
      lane &+= lanes
    }
    block &+= 1
  }
}
