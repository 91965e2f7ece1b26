import KernelInterface

extension Table {
  @inline(never)
  package static func convolution(_ a: ConvolutionArguments) {
    let run: Int
    let runsPerRow: Int
    if a.window.dilationX == 1 && a.input.strides.pixel == a.blockChannels {
      run = a.window.width &* a.blockChannels
      runsPerRow = 1
    } else {
      run = a.blockChannels
      runsPerRow = a.window.width
    }
    var source = TileInput(
      run: run, runsPerRow: runsPerRow,
      runStride: a.window.dilationX &* a.input.strides.pixel, rows: a.window.height,
      rowStride: a.window.dilationY &* a.input.strides.row, blocks: a.inputBlocks,
      blockStride: a.input.strides.block, partLength: 128)
    let whole = vectorsPerBlock > 1
    #if KERNELS_AVX512
      if run % lanes == 0, multiplyTiles(a, source) { return }
    #endif
    var target = TileOutput(
      vectorStride: whole ? lanes : a.output.strides.block,
      residualVectorStride: whole ? lanes : a.epilogue.residualStrides.block, accumulates: false)

    if a.bytes != nil { (source.partLength, source.unrolled) = (Int.max, ByteTerms.unrolled) }
    let taps = a.window.taps &* a.blockChannels
    let fetchesRows = a.blockChannels == 1 && a.input.strides.pixel == 1 && !a.isInputNear
    let rowsAtOnce = tilesCrossRows && !fetchesRows ? a.extent.rows : 1
    let pixels = PixelRows(
      rows: rowsAtOnce, width: a.extent.width,
      input: PixelStride(
        column: a.window.strideX &* a.input.strides.pixel,
        row: a.window.strideY &* a.input.strides.row),
      output: PixelStride(column: a.output.strides.pixel, row: a.output.strides.row),
      residual: PixelStride(column: a.output.strides.pixel, row: a.epilogue.residualStrides.row))
    guard pixels.count > 0 else { return }

    var block = 0
    var panel = 0
    while block < a.extent.blocks {
      let blocks = min(panelBlocks, a.extent.blocks &- block)
      let vectors = blocks &* vectorsPerBlock
      let width = blocks &* channelBlock
      let blockFloats = taps &* width
      source.fetchesNext = block == 0 && !a.isInputNear && a.input.strides.pixel == channelBlock
      let pieceBlocks = ConvolutionArguments.blocksAtOnce(a.inputBlocks, blockFloats: blockFloats)
      var piece = 0
      while piece < a.inputBlocks {
        let isLast = piece &+ pieceBlocks >= a.inputBlocks
        source.blocks = isLast ? a.inputBlocks &- piece : pieceBlocks
        target.accumulates = piece > 0
        let start = panel &+ piece &* blockFloats
        var weights = a.weights + start
        var next = weights + source.blocks &* blockFloats
        var nextFloats = source.blocks &* blockFloats
        if var coded = a.coded {
          coded.panel.codes += start
          expand(coded, a, piece..<piece &+ source.blocks, block: block, width: width)
          weights = UnsafePointer(coded.expanded)
          next = UnsafeRawPointer(coded.panel.codes + nextFloats).assumingMemoryBound(
            to: Float.self)
          nextFloats /= 4
        }
        var ahead = TilesAhead(
          next, floats: nextFloats, fetches: source.fetches(vectors: vectors),
          tiles: pixels.tiles &* (a.extent.rows / rowsAtOnce))
        let input = a.input.base + piece &* a.input.strides.block
        let epilogue = isLast ? a.epilogue : Epilogue()
        var y = 0
        while y < a.extent.rows {
          if fetchesRows && block == 0 && y &+ 1 < a.extent.rows {
            fetchNextRow(a, input + y &* pixels.input.row)
          }
          let rowResidual = epilogue.residual.map {
            $0 + (block &* epilogue.residualStrides.block &+ y &* epilogue.residualStrides.row)
          }
          computeTiles(
            pixels, vectors: vectors,
            TileTask(
              input: input + y &* pixels.input.row, source: source, weights: weights,
              bias: a.bytes?.start ?? a.epilogue.bias, bytes: a.bytes,
              output: a.output.base + (block &* a.output.strides.block &+ y &* pixels.output.row),
              target: target, residual: rowResidual, channel: block &* channelBlock,
              epilogue: epilogue), ahead: &ahead)
          y &+= rowsAtOnce
        }
        piece &+= pieceBlocks
      }
      panel &+= a.inputBlocks &* taps &* width
      block &+= blocks
    }
  }
}

/// Prefetches the inputs of the next row of pixels that the row starting at `input` does not read.
@inline(never)
private func fetchNextRow(_ a: ConvolutionArguments, _ input: UnsafePointer<Float>) {
  let columns =
    (a.extent.width &- 1) &* a.window.strideX &+ (a.window.width &- 1) &* a.window.dilationX
  let lines = columns / lineFloats &+ 2
  let rows = min(a.window.strideY, a.window.height)
  let first = a.window.strideY &+ (a.window.height &- rows) &* a.window.dilationY
  for plane in 0..<a.inputBlocks {
    for row in 0..<rows {
      let start =
        plane &* a.input.strides.block &+ (first &+ row &* a.window.dilationY)
        &* a.input.strides.row
      fetch(input + start, lines: lines)
    }
  }
}
