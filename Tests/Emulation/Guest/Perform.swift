import KernelInterface
import KernelsBaseline

// The emulated program: kernels for arm64 that perform another process's calls.

@_cdecl("write_constants")
func writeConstants(_ target: UnsafeMutableRawPointer) -> Int {
  var constants = EmulatedConstants()
  constants.channelBlock = Table.channelBlock
  constants.panelBlocks = Table.panelBlocks
  constants.pixelTile = Table.pixelTile
  constants.planarOutputs = Table.planarOutputs
  target.storeBytes(of: constants, as: EmulatedConstants.self)
  return MemoryLayout<EmulatedConstants>.size
}

@_cdecl("call_byte_count")
func callByteCount() -> Int { MemoryLayout<KernelCall>.size }

/// - Returns: the number of bytes of the answer.
@_cdecl("perform")
func perform(_ call: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) -> Int {
  var answer = KernelAnswer()
  switch call.load(as: KernelCall.self) {
  case .convolution(let a): Table.convolution(a)
  case .depthwiseConvolution(let a): Table.depthwiseConvolution(a)
  case .generalConvolution(let a, let groupOutputs, let channels):
    Table.generalConvolution(a, groupOutputs: groupOutputs, channels: channels)
  case .planarConvolution(let a): Table.planarConvolution(a)
  case .planarPair(let a): Table.planarPair(a)
  case .planarPairRows(let d0, let d1, let d2, let d3, let output, let stride, let count, let ahead):
    Table.planarPairRows(
      d0, d1, d2, d3, to: output, rowStride: stride, count: count, ahead: ahead)
  case .packConvolutionWeights(let a, let blockChannels, let panelBlocks):
    Table.packConvolutionWeights(a, blockChannels: blockChannels, panelBlocks: panelBlocks)
  case .winogradInput(let tiles, let a): Table.winogradInput(tiles, a)
  case .winogradOutput(let a): Table.winogradOutput(a)
  case .packWinogradWeights(let a, let form, let scale):
    Table.packWinogradWeights(a, form: form, scale: scale)
  case .expandWinogradWeights(let a): Table.expandWinogradWeights(a)
  case .pieceInput(let tiles, let blockChannels, let rows, let width, let a):
    Table.pieceInput(tiles: tiles, blockChannels: blockChannels, rows: rows, width: width, a)
  case .pieceOutput(
    let products, let pointStride, let blockStride, let tiles, let output, let strides, let extent,
    let epilogue):
    Table.pieceOutput(
      products: products, pointStride: pointStride, blockStride: blockStride, tiles: tiles,
      output: output, outputStrides: strides, extent: extent, epilogue: epilogue)
  case .pieceSums(
    let products, let tileStride, let tiles, let pieces, let channels, let sums, let accumulates):
    Table.pieceSums(
      products: products, tileStride: tileStride, tiles: tiles, pieces: pieces,
      channels: channels, sums: sums, accumulates: accumulates)
  case .pieceSumOutput(
    let sums, let pointStride, let tiles, let output, let strides, let extent, let bias):
    Table.pieceSumOutput(
      sums: sums, pointStride: pointStride, tiles: tiles, output: output, outputStrides: strides,
      extent: extent, bias: bias)
  case .upsampledInput(let tiles, let a): Table.upsampledInput(tiles, a)
  case .upsampledOutput(
    let tiles, let phaseY, let phaseX, let products, let pointStride, let output, let rowStride,
    let epilogue):
    Table.upsampledOutput(
      tiles, phaseY: phaseY, phaseX: phaseX, products: products, pointStride: pointStride,
      output: output, outputRowStride: rowStride, epilogue: epilogue)
  case .dense(let a): Table.dense(a)
  case .combineRows(let a): Table.combineRows(a)
  case .softmaxRows(let a): Table.softmaxRows(a)
  case .expandWeights(let a): Table.expandWeights(a)
  case .packFixedRow(let source, let columns, let packed):
    let summary = Table.packFixedRow(source, columns: columns, to: packed)
    answer.float = summary.scale
    answer.double = summary.peak
  case .unary(let a): Table.unary(a)
  case .combine(let a): Table.combine(a)
  case .pool(let a): Table.pool(a)
  case .reduce(let function, let input, let count):
    answer.float = Table.reduce(function, input, count: count)
  case .reduceBlock(let function, let input, let pixels, let output):
    Table.reduceBlock(function, input, pixels: pixels, to: output)
  case .softmax(let input, let output, let count):
    Table.softmax(input, to: output, count: count)
  case .blockedSoftmax(
    let input, let blockStride, let output, let outputBlockStride, let pixels, let channels):
    Table.blockedSoftmax(
      input, blockStride: blockStride, to: output, outputBlockStride: outputBlockStride,
      pixels: pixels, channels: channels)
  case .block(
    let input, let strides, let channels, let rows, let width, let scale, let bias, let output,
    let rowStride):
    Table.block(
      input, strides, channels: channels, rows: rows, width: width, scale: scale, bias: bias,
      to: output, rowStride: rowStride)
  case .unblock(
    let input, let rowStride, let channels, let rows, let width, let output, let strides):
    Table.unblock(
      input, rowStride: rowStride, channels: channels, rows: rows, width: width, to: output,
      strides)
  case .multiplyAddLoop(let rounds, let start):
    let (count, sum) = Table.multiplyAddLoop(rounds: rounds, start: start)
    answer.count = count
    answer.float = sum
  }
  target.storeBytes(of: answer, as: KernelAnswer.self)
  return MemoryLayout<KernelAnswer>.size
}
