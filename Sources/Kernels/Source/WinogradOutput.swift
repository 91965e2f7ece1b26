import KernelInterface

extension Table {
  @inline(never)
  package static func winogradOutput(_ a: WinogradOutputArguments) {
    let points = a.transformed.tiles.form.points
    let panelWidth = panelBlocks &* channelBlock
    let end = a.panels.range.upperBound
    var panel = a.panels.range.lowerBound
    while panel < end {
      let group = min(a.panels.atOnce, end &- panel)
      var point = 0
      while point < points {
        var p = 0
        while p < group {
          let blocks = min(panelBlocks, a.outputBlocks &- (panel &+ p) &* panelBlocks)
          let isLast = p &+ 1 == group
          multiply(
            a, PanelPoint(panel: panel &+ p, point: point), blocks: blocks,
            next: isLast
              ? PanelPoint(panel: panel, point: point &+ 1)
              : PanelPoint(panel: panel &+ p &+ 1, point: point),
            products: a.products.base
              + (point &* a.products.stride &+ p &* a.transformed.tiles.count &* panelWidth))
          p &+= 1
        }
        point &+= 1
      }
      var p = 0
      while p < group {
        let firstBlock = (panel &+ p) &* panelBlocks
        transform(
          a, firstBlock: firstBlock, blocks: min(panelBlocks, a.outputBlocks &- firstBlock),
          products: a.products.base + p &* a.transformed.tiles.count &* panelWidth)
        p &+= 1
      }
      panel &+= group
    }
  }
}

/// One point's weights in one panel.
private struct PanelPoint {
  var panel: Int
  var point: Int
}

/// Computes one point's products for one panel: `products[tile][column]`.
@inline(__always)
private func multiply(
  _ a: WinogradOutputArguments, _ own: PanelPoint, blocks: Int, next: PanelPoint,
  products: UnsafeMutablePointer<Float>
) {
  let width = blocks &* channelBlock
  let panelWidth = panelVectors &* lanes
  let points = a.transformed.tiles.form.points
  let panelStride = points &* panelWidth &* a.panels.channels
  let pointStride = a.panels.pointStride ?? width &* a.panels.channels
  let weights = own.panel &* panelStride &+ own.point &* pointStride
  let nextWeights = next.panel &* panelStride &+ next.point &* pointStride
  // Runs are short enough for sums in parts.
  var run = min(32, a.panels.channels)
  while a.panels.channels % run != 0 { run &-= channelBlock }
  let source = TileInput(
    run: run, runsPerRow: a.panels.channels / run, runStride: run, rows: 1, rowStride: 0, blocks: 1,
    blockStride: 0)
  let pixels = PixelRows(
    width: a.transformed.tiles.count, input: PixelStride(column: a.transformed.strides.tile),
    output: PixelStride(column: width))
  let vectors = blocks &* vectorsPerBlock
  var ahead = TilesAhead(
    a.panels.weights + nextWeights, floats: width &* a.panels.channels,
    fetches: source.fetches(vectors: vectors), tiles: pixels.tiles)
  computeTiles(
    pixels, vectors: vectors,
    TileTask(
      input: a.transformed.base + own.point &* a.transformed.strides.point, source: source,
      weights: a.panels.weights + weights,
      output: products,
      target: TileOutput(vectorStride: lanes, residualVectorStride: 0, accumulates: false)),
    ahead: &ahead)
}

/// Transforms the products of one panel to the output.
@inline(never)
private func transform(
  _ a: WinogradOutputArguments, firstBlock: Int, blocks: Int,
  products: UnsafeMutablePointer<Float>
) {
  withUnsafeTemporaryAllocation(of: Vector.self, capacity: 64) { half in
    guard let half = half.baseAddress else { return }
    a.transformed.tiles.form.perform(
      OutputTransform(
        a: a, products: products, width: blocks &* channelBlock,
        firstChannel: firstBlock &* channelBlock, half: half))
  }
}

private struct OutputTransform: WinogradTask {
  let a: WinogradOutputArguments
  /// The products for the output channels of one panel, `[point][tile][channel]`.
  let products: UnsafePointer<Float>
  let width: Int
  let firstChannel: Int
  /// Stores `[column][row]` of a tile after the first of the two axes.
  let half: UnsafeMutablePointer<Vector>

  @inline(__always)
  func run<V: WinogradTransform, H: WinogradTransform>(_: V.Type, _: H.Type) {
    var location = WinogradTile(a.transformed.tiles)
    var tile = 0
    while tile < a.transformed.tiles.count {
      var column = 0
      while column < width {
        transform(
          V.self, H.self, location, channel: firstChannel &+ column,
          products: products + (tile &* width &+ column))
        column &+= lanes
      }
      location.advance()
      tile &+= 1
    }
  }

  /// Transforms one vector of channels of one tile.
  @inline(__always)
  private func transform<V: WinogradTransform, H: WinogradTransform>(
    _: V.Type, _: H.Type, _ location: WinogradTile, channel: Int, products: UnsafePointer<Float>
  ) {
    let rows = a.transformed.tiles.rows &- location.row
    let columns = a.transformed.tiles.width &- location.column
    let block = channel / channelBlock
    let lane = channel % channelBlock
    let shift = a.poolsMaximum ? 1 : 0
    let (row, column) = (location.row &>> shift, location.column &>> shift)
    let pixel: Int = row &* a.output.strides.row &+ column &* channelBlock &+ lane
    let plane: Int = location.image &* a.output.strides.image &+ block &* a.output.strides.block
    let output = a.output.base + (plane &+ pixel)
    let residual = a.epilogue.residual.map {
      let strides = a.epilogue.residualStrides
      let pixel: Int = location.row &* strides.row &+ location.column &* channelBlock &+ lane
      return $0 + (location.image &* strides.image &+ block &* strides.block &+ pixel)
    }
    let bias = a.epilogue.bias.map { load($0 + channel) } ?? .zero
    for x in 0..<H.points {
      var line = WinogradLine(repeating: .zero)
      var m = products + x &* a.products.stride
      for y in 0..<V.points {
        line[y] = load(m)
        m += H.points &* a.products.stride
      }
      let column = V.output(line)
      for y in 0..<V.outputs { half[x &* V.outputs &+ y] = column[y] }
    }
    var above: Tile<6, 1> = zeros()
    for y in 0..<V.outputs {
      if y >= rows { return }
      var line = WinogradLine(repeating: .zero)
      for x in 0..<H.points { line[x] = half[x &* V.outputs &+ y] }
      let row = H.output(line)
      var pixels: Tile<6, 1> = zeros()
      for x in 0..<H.outputs { pixels[x][0] = row[x] + bias }
      if let residual {
        let addend = residual + y &* a.epilogue.residualStrides.row
        for x in 0..<H.outputs where x < columns {
          pixels[x][0] += load(addend + x &* channelBlock)
        }
      }
      activate(&pixels, a.epilogue.activation, channel: channel)
      if !a.poolsMaximum {
        let target = output + y &* a.output.strides.row
        for x in 0..<H.outputs where x < columns { store(pixels[x][0], target + x &* channelBlock) }
      } else if y % 2 == 0 {
        above = pixels
      } else {
        let target = output + y / 2 &* a.output.strides.row
        for x in 0..<H.outputs / 2 where 2 &* x < columns {
          let left = maximum(above[2 &* x][0], pixels[2 &* x][0])
          let right = maximum(above[2 &* x &+ 1][0], pixels[2 &* x &+ 1][0])
          store(maximum(left, right), target + x &* channelBlock)
        }
      }
    }
  }
}
