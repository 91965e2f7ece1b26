import KernelInterface
import KernelsBaseline

// The emulated program: arm64 kernels that perform the calls of another process.

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

/// - Returns: the number of bytes of the result.
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
  case .planarPairRows(let a): Table.planarPairRows(a)
  case .packConvolutionWeights(let a, let blockChannels, let panelBlocks):
    Table.packConvolutionWeights(a, blockChannels: blockChannels, panelBlocks: panelBlocks)
  case .winogradInput(let tiles, let a): Table.winogradInput(tiles, a)
  case .winogradOutput(let a): Table.winogradOutput(a)
  case .packWinogradWeights(let a, let form, let scale):
    Table.packWinogradWeights(a, form: form, scale: scale)
  case .expandWinogradWeights(let a): Table.expandWinogradWeights(a)
  case .pieceInput(let tiles, let blockChannels, let rows, let width, let a):
    Table.pieceInput(tiles: tiles, blockChannels: blockChannels, rows: rows, width: width, a)
  case .pieceOutput(let a): Table.pieceOutput(a)
  case .pieceSums(let a): Table.pieceSums(a)
  case .pieceSumOutput(let a): Table.pieceSumOutput(a)
  case .upsampledInput(let tiles, let a): Table.upsampledInput(tiles, a)
  case .upsampledOutput(let a): Table.upsampledOutput(a)
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
  case .blockedSoftmax(let a): Table.blockedSoftmax(a)
  case .block(let a): Table.block(a)
  case .unblock(let a): Table.unblock(a)
  case .multiplyAddLoop(let rounds, let start):
    let (count, sum) = Table.multiplyAddLoop(rounds: rounds, start: start)
    answer.count = count
    answer.float = sum
  }
  target.storeBytes(of: answer, as: KernelAnswer.self)
  return MemoryLayout<KernelAnswer>.size
}
