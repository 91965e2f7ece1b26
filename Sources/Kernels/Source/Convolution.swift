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
  let source = TileInput(
    step: a.strideX &* a.inputPixelStride, run: run, runsPerRow: runsPerRow,
    runStride: a.dilationX &* a.inputPixelStride, rows: a.kernelHeight,
    rowStride: a.dilationY &* a.inputRowStride, blocks: a.inputBlocks,
    blockStride: a.inputBlockStride)
  let whole = vectorsPerBlock > 1
  let target = TileOutput(
    pixelStride: a.outputPixelStride ?? channelBlock,
    vectorStride: whole ? lanes : a.outputBlockStride,
    residualVectorStride: whole ? lanes : a.epilogue.residualBlockStride,
    accumulates: a.accumulates)

  let taps = a.kernelHeight &* a.kernelWidth &* a.blockChannels
  let tiles = (a.outputWidth &+ pixelTile &- 1) / pixelTile
  guard tiles > 0 else { return }
  let smallTile = a.outputWidth / tiles
  let largeTiles = a.outputWidth % tiles
  let input = a.input + a.firstInputBlock &* a.inputBlockStride
  let panelBlocks = panelVectors / vectorsPerBlock

  var block = 0
  var panel = a.weights
  while block < a.outputBlocks {
    let blocks = min(panelBlocks, a.outputBlocks &- block)
    let width = blocks &* channelBlock
    let weights = panel + a.firstInputBlock &* taps &* width
    var y = 0
    while y < a.outputRows {
      let rowInput = input + y &* a.strideY &* a.inputRowStride
      let rowOutput = a.output + (block &* a.outputBlockStride &+ y &* a.outputRowStride)
      let rowResidual = a.epilogue.residual.map {
        $0 + (block &* a.epilogue.residualBlockStride &+ y &* a.epilogue.residualRowStride)
      }
      var x = 0
      var tile = 0
      while tile < tiles {
        let pixels = tile < largeTiles ? smallTile &+ 1 : smallTile
        computeTile(
          pixels: pixels, vectors: blocks &* vectorsPerBlock, input: rowInput + x &* source.step,
          source: source, weights: weights, bias: a.bias,
          output: rowOutput + x &* target.pixelStride,
          target: target, residual: rowResidual.map { $0 + x &* target.pixelStride },
          channel: block &* channelBlock, epilogue: a.epilogue)
        x &+= pixels
        tile &+= 1
      }
      y &+= 1
    }
    panel += a.packedBlocks &* taps &* width
    block &+= blocks
  }
}
