import KernelInterface

/// See `WinogradOutputArguments`.
@inline(never)
func winogradOutput(_ a: WinogradOutputArguments) {
  let points = WinogradTiles.points(size: a.tiles.size)
  let panelBlocks = panelVectors / vectorsPerBlock
  let panelWidth = panelBlocks &* channelBlock
  let end = a.firstPanel &+ a.panelCount
  var panel = a.firstPanel
  while panel < end {
    let group = min(a.panelsAtOnce, end &- panel)
    var point = 0
    while point < points {
      var p = 0
      while p < group {
        let blocks = min(panelBlocks, a.outputBlocks &- (panel &+ p) &* panelBlocks)
        let isLast = p &+ 1 == group
        multiply(
          a, point: point, panel: panel &+ p, blocks: blocks,
          nextPoint: isLast ? point &+ 1 : point, nextPanel: isLast ? panel : panel &+ p &+ 1,
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
  nextPoint: Int, nextPanel: Int, products: UnsafeMutablePointer<Float>
) {
  let width = blocks &* channelBlock
  let panelWidth = panelVectors &* lanes
  let points = WinogradTiles.points(size: a.tiles.size)
  let panelStride = points &* panelWidth &* a.channels
  let pointStride = a.weightPointStride ?? width &* a.channels
  let weights = panel &* panelStride &+ point &* pointStride
  let nextWeights = nextPanel &* panelStride &+ nextPoint &* pointStride
  // Runs short enough for sums in parts.
  var run = min(32, a.channels)
  while a.channels % run != 0 { run &-= channelBlock }
  let source = TileInput(
    run: run, runsPerRow: a.channels / run, runStride: run, rows: 1, rowStride: 0, blocks: 1,
    blockStride: 0)
  let pixels = PixelRows(
    width: a.tiles.count, input: PixelStride(column: a.tileStride),
    output: PixelStride(column: width))
  var ahead = TilesAhead(
    distance: nextWeights &- weights, runFloats: run &* width,
    tiles: pixels.tiles)
  computeTiles(
    pixels, vectors: blocks &* vectorsPerBlock,
    TileTask(
      input: a.transformed + point &* a.pointStride, source: source, weights: a.weights + weights,
      output: products,
      target: TileOutput(vectorStride: lanes, residualVectorStride: 0, accumulates: false)),
    ahead: &ahead)
}

/// Products of one panel → output.
@inline(never)
private func transform(
  _ a: WinogradOutputArguments, firstBlock: Int, blocks: Int,
  products: UnsafeMutablePointer<Float>
) {
  withUnsafeTemporaryAllocation(of: Vector.self, capacity: 64) { half in
    guard let half = half.baseAddress else { return }
    let panel = WinogradPanel(
      products: products, width: blocks &* channelBlock, firstChannel: firstBlock &* channelBlock)
    switch a.tiles.size {
    case 2: transform(a, panel, Winograd2.self, half)
    case 4: transform(a, panel, Winograd4.self, half)
    default: transform(a, panel, Winograd6.self, half)
    }
  }
}

/// The products of the output channels of one panel, `[point][tile][channel]`.
private struct WinogradPanel {
  var products: UnsafePointer<Float>
  var width: Int
  var firstChannel: Int
}

@inline(__always)
private func transform<T: WinogradTransform>(
  _ a: WinogradOutputArguments, _ panel: WinogradPanel, _: T.Type,
  _ half: UnsafeMutablePointer<Vector>
) {
  let shift = a.poolsMaximum ? 1 : 0
  let first = WinogradTile(a.tiles)
  var column = 0
  while column < panel.width {
    let channel = panel.firstChannel &+ column
    let block = channel / channelBlock
    let lane = channel % channelBlock
    let plane = a.output + (block &* a.outputBlockStride &+ lane)
    let addend = a.epilogue.residual.map { $0 + (block &* a.epilogue.residualBlockStride &+ lane) }
    let bias = a.bias.map { load($0 + channel) } ?? .zero
    var place = first
    var tile = 0
    while tile < a.tiles.count {
      transformTile(
        a, T.self, half, products: panel.products + (tile &* panel.width &+ column),
        rows: a.tiles.rows &- place.row, columns: a.tiles.width &- place.column,
        channel: channel, bias: bias,
        output: plane
          + (place.image &* a.outputImageStride &+ (place.row &>> shift) &* a.outputRowStride
            &+ (place.column &>> shift) &* channelBlock),
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

/// One vector of channels of one tile. `half` keeps `[column][row]` after the first of the two axes.
@inline(__always)
private func transformTile<T: WinogradTransform>(
  _ a: WinogradOutputArguments, _: T.Type, _ half: UnsafeMutablePointer<Vector>,
  products: UnsafePointer<Float>, rows: Int, columns: Int, channel: Int, bias: Vector,
  output: UnsafeMutablePointer<Float>, residual: UnsafePointer<Float>?
) {
  for x in 0..<T.edge {
    var line = WinogradLine(repeating: .zero)
    var m = products + x &* a.productStride
    for y in 0..<T.edge {
      line[y] = load(m)
      m += T.edge &* a.productStride
    }
    let column = T.output(line)
    for y in 0..<T.size { half[x &* T.size &+ y] = column[y] }
  }
  var above = Tile<6, 1>(repeating: [.zero])
  for y in 0..<T.size {
    if y >= rows { return }
    var line = WinogradLine(repeating: .zero)
    for x in 0..<T.edge { line[x] = half[x &* T.size &+ y] }
    let row = T.output(line)
    var pixels = Tile<6, 1>(repeating: [.zero])
    for x in 0..<T.size { pixels[x][0] = row[x] + bias }
    if let residual {
      let addend = residual + y &* a.epilogue.residualRowStride
      for x in 0..<T.size where x < columns { pixels[x][0] += load(addend + x &* channelBlock) }
    }
    activate(&pixels, a.epilogue, channel: channel)
    if !a.poolsMaximum {
      let target = output + y &* a.outputRowStride
      for x in 0..<T.size where x < columns { store(pixels[x][0], target + x &* channelBlock) }
    } else if y % 2 == 0 {
      above = pixels
    } else {
      let target = output + y / 2 &* a.outputRowStride
      for x in 0..<T.size / 2 where 2 &* x < columns {
        let left = maximum(above[2 &* x][0], pixels[2 &* x][0])
        let right = maximum(above[2 &* x &+ 1][0], pixels[2 &* x &+ 1][0])
        store(maximum(left, right), target + x &* channelBlock)
      }
    }
  }
}
