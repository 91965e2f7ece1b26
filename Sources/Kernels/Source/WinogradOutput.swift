import KernelInterface

/// See `WinogradOutputArguments`.
@inline(never)
func winogradOutput(_ a: WinogradOutputArguments) {
  let panelBlocks = panelVectors / vectorsPerBlock
  let panelWidth = panelBlocks &* channelBlock
  let end = a.firstPanel &+ a.panelCount
  var panel = a.firstPanel
  while panel < end {
    let group = min(a.panelsAtOnce, end &- panel)
    var point = 0
    while point < WinogradTiles.points {
      var p = 0
      while p < group {
        let blocks = min(panelBlocks, a.outputBlocks &- (panel &+ p) &* panelBlocks)
        multiply(
          a, point: point, panel: panel &+ p, blocks: blocks,
          products: a.products + (point &* a.productStride &+ p &* a.tiles.count &* panelWidth))
        p &+= 1
      }
      point &+= 1
    }
    var p = 0
    while p < group {
      let firstBlock = (panel &+ p) &* panelBlocks
      transform(
        a, firstBlock: firstBlock, blocks: min(panelBlocks, a.outputBlocks &- firstBlock),
        products: a.products + p &* a.tiles.count &* panelWidth)
      p &+= 1
    }
    panel &+= group
  }
}

/// One point's products of one panel: `products[tile][column]`.
@inline(__always)
private func multiply(
  _ a: WinogradOutputArguments, point: Int, panel: Int, blocks: Int,
  products: UnsafeMutablePointer<Float>
) {
  let width = blocks &* channelBlock
  let panelWidth = panelVectors &* lanes
  let weights =
    a.weights
    + (panel &* WinogradTiles.points &* a.channels &* panelWidth &+ point &* a.channels &* width)
  let source = TileInput(
    step: a.tileStride, run: a.channels, runsPerRow: 1, runStride: 0, rows: 1, rowStride: 0,
    blocks: 1, blockStride: 0)
  let target = TileOutput(
    pixelStride: width, vectorStride: lanes, residualVectorStride: 0, accumulates: false)
  let count = a.tiles.count
  let steps = (count &+ pixelTile &- 1) / pixelTile
  guard steps > 0 else { return }
  let small = count / steps
  let large = count % steps
  var input = a.transformed + point &* a.pointStride
  var output = products
  var step = 0
  while step < steps {
    let pixels = step < large ? small &+ 1 : small
    computeTile(
      pixels: pixels, vectors: blocks &* vectorsPerBlock, input: input, source: source,
      weights: weights, bias: nil, output: output, target: target, residual: nil, channel: 0,
      epilogue: Epilogue())
    input += pixels &* a.tileStride
    output += pixels &* width
    step &+= 1
  }
}

/// Products of one panel → output.
@inline(never)
private func transform(
  _ a: WinogradOutputArguments, firstBlock: Int, blocks: Int,
  products: UnsafeMutablePointer<Float>
) {
  let width = blocks &* channelBlock
  let first = WinogradTile(a.tiles)
  var column = 0
  while column < width {
    let channel = firstBlock &* channelBlock &+ column
    let block = channel / channelBlock
    let lane = channel % channelBlock
    let plane = a.output + (block &* a.outputBlockStride &+ lane)
    let addend = a.epilogue.residual.map { $0 + (block &* a.epilogue.residualBlockStride &+ lane) }
    let bias = a.bias.map { load($0 + channel) } ?? .zero
    var place = first
    var tile = 0
    while tile < a.tiles.count {
      transformTile(
        a, products: products + (tile &* width &+ column),
        rows: a.tiles.rows &- place.row, columns: a.tiles.width &- place.column,
        channel: channel, bias: bias,
        output: plane
          + (place.image &* a.outputImageStride &+ place.row &* a.outputRowStride
            &+ place.column &* channelBlock),
        residual: addend.map {
          $0
            + (place.image &* a.residualImageStride
              &+ place.row &* a.epilogue.residualRowStride &+ place.column &* channelBlock)
        })
      place.advance()
      tile &+= 1
    }
    column &+= lanes
  }
}

/// One vector of channels of one tile.
@inline(__always)
private func transformTile(
  _ a: WinogradOutputArguments, products: UnsafePointer<Float>, rows: Int, columns: Int,
  channel: Int, bias: Vector, output: UnsafeMutablePointer<Float>,
  residual: UnsafePointer<Float>?
) {
  // [column][row]
  var half = InlineArray<6, InlineArray<4, Vector>>(repeating: InlineArray(repeating: .zero))
  let stride = a.productStride
  for x in 0..<6 {
    let m = products + x &* stride
    let column = winogradOutput(
      (
        load(m), load(m + 6 &* stride), load(m + 12 &* stride), load(m + 18 &* stride),
        load(m + 24 &* stride), load(m + 30 &* stride)
      ))
    half[x][0] = column.0
    half[x][1] = column.1
    half[x][2] = column.2
    half[x][3] = column.3
  }
  for y in 0..<4 {
    let row = winogradOutput(
      (half[0][y], half[1][y], half[2][y], half[3][y], half[4][y], half[5][y]))
    if y >= rows { return }
    let target = output + y &* a.outputRowStride
    var pixels = Tile<4, 1>(repeating: InlineArray(repeating: .zero))
    pixels[0][0] = row.0 + bias
    pixels[1][0] = row.1 + bias
    pixels[2][0] = row.2 + bias
    pixels[3][0] = row.3 + bias
    if let residual {
      let addend = residual + y &* a.epilogue.residualRowStride
      for x in 0..<4 where x < columns { pixels[x][0] += load(addend + x &* channelBlock) }
    }
    activate(&pixels, a.epilogue, channel: channel)
    if columns >= 4 {
      for x in 0..<4 { store(pixels[x][0], target + x &* channelBlock) }
    } else {
      for x in 0..<4 where x < columns { store(pixels[x][0], target + x &* channelBlock) }
    }
  }
}
