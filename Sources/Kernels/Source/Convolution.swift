import KernelInterface

/// See `ConvolutionArguments`.
@inline(never)
func convolution(_ a: ConvolutionArguments) {
  let run: Int
  let runsPerRow: Int
  if a.dilationX == 1 && a.inputPixelStride == a.blockChannels {
    run = a.kernelWidth &* a.blockChannels
    runsPerRow = 1
  } else {
    run = a.blockChannels
    runsPerRow = a.kernelWidth
  }
  var source = TileInput(
    run: run, runsPerRow: runsPerRow,
    runStride: a.dilationX &* a.inputPixelStride, rows: a.kernelHeight,
    rowStride: a.dilationY &* a.inputRowStride, blocks: a.inputBlocks,
    blockStride: a.inputBlockStride, partLength: 128)
  let whole = vectorsPerBlock > 1
  var target = TileOutput(
    vectorStride: whole ? lanes : a.outputBlockStride,
    residualVectorStride: whole ? lanes : a.epilogue.residualBlockStride,
    accumulates: a.accumulates)

  let taps = a.kernelHeight &* a.kernelWidth &* a.blockChannels
  let fetchesRows = a.blockChannels == 1 && a.inputPixelStride == 1 && !a.isInputNear
  let rowsAtOnce = tilesCrossRows && !fetchesRows ? a.outputRows : 1
  let outputStep = a.outputPixelStride ?? channelBlock
  let pixels = PixelRows(
    rows: rowsAtOnce, width: a.outputWidth,
    input: PixelStride(
      column: a.strideX &* a.inputPixelStride, row: a.strideY &* a.inputRowStride),
    output: PixelStride(column: outputStep, row: a.outputRowStride),
    residual: PixelStride(column: outputStep, row: a.epilogue.residualRowStride))
  guard pixels.count > 0 else { return }
  let input = a.input + a.firstInputBlock &* a.inputBlockStride
  let panelBlocks = panelVectors / vectorsPerBlock

  var block = 0
  var panel = a.weights
  while block < a.outputBlocks {
    let blocks = min(panelBlocks, a.outputBlocks &- block)
    let width = blocks &* channelBlock
    let blockFloats = taps &* width
    source.fetchesNext =
      block == 0 && !a.isInputNear && a.inputPixelStride == channelBlock
    let pieceBlocks = inputPiece(a, blockFloats: blockFloats)
    var piece = 0
    while piece < a.inputBlocks {
      let isLast = piece &+ pieceBlocks >= a.inputBlocks
      source.blocks = isLast ? a.inputBlocks &- piece : pieceBlocks
      target.accumulates = a.accumulates || piece > 0
      let weights = panel + (a.firstInputBlock &+ piece) &* blockFloats
      var ahead = TilesAhead(
        distance: source.blocks &* blockFloats, runFloats: source.run &* width,
        tiles: pixels.tiles &* (a.outputRows / rowsAtOnce))
      let pieceInput = input + piece &* a.inputBlockStride
      let epilogue = isLast ? a.epilogue : Epilogue()
      var y = 0
      while y < a.outputRows {
        if fetchesRows && block == 0 && y &+ 1 < a.outputRows {
          fetchNextRow(a, pieceInput + y &* pixels.input.row)
        }
        let rowResidual = epilogue.residual.map {
          $0 + (block &* epilogue.residualBlockStride &+ y &* epilogue.residualRowStride)
        }
        computeTiles(
          pixels, vectors: blocks &* vectorsPerBlock,
          TileTask(
            input: pieceInput + y &* pixels.input.row, source: source, weights: weights,
            bias: a.bias,
            output: a.output + (block &* a.outputBlockStride &+ y &* pixels.output.row),
            target: target, residual: rowResidual, channel: block &* channelBlock,
            epilogue: epilogue), ahead: &ahead)
        y &+= rowsAtOnce
      }
      piece &+= pieceBlocks
    }
    panel += a.packedBlocks &* taps &* width
    block &+= blocks
  }
}

/// Asks for what the row of pixels behind the one that reads from `input` on reads besides.
@inline(never)
private func fetchNextRow(_ a: ConvolutionArguments, _ input: UnsafePointer<Float>) {
  let columns = (a.outputWidth &- 1) &* a.strideX &+ (a.kernelWidth &- 1) &* a.dilationX
  let lines = columns / lineFloats &+ 2
  let rows = min(a.strideY, a.kernelHeight)
  let first = a.strideY &+ (a.kernelHeight &- rows) &* a.dilationY
  for plane in 0..<a.inputBlocks {
    for row in 0..<rows {
      let start = plane &* a.inputBlockStride &+ (first &+ row &* a.dilationY) &* a.inputRowStride
      fetch(input + start, lines: lines)
    }
  }
}

/// Input blocks to sum at a time, so that their weights stay in the second-level cache from one tile
/// to the next, beside those that are fetched for the next ones. It must depend on the weights alone:
/// sums are rounded where pieces meet.
@inline(__always)
private func inputPiece(_ a: ConvolutionArguments, blockFloats: Int) -> Int {
  let most = 32 << 10
  let floats = a.inputBlocks &* blockFloats
  if floats <= most &+ most / 2 { return max(1, a.inputBlocks) }
  let pieces = (floats &+ most &- 1) / most
  return (a.inputBlocks &+ pieces &- 1) / pieces
}
