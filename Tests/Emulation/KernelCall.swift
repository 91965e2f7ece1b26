import KernelInterface

/// A kernel call, as bytes with the same layout on both architectures; addresses are the caller's.
package enum KernelCall: @unchecked Sendable {
  case convolution(ConvolutionArguments)
  case depthwiseConvolution(ConvolutionArguments)
  case generalConvolution(ConvolutionArguments, groupOutputs: Int, channels: Range<Int>)
  case planarConvolution(ConvolutionArguments)
  case planarPair(ConvolutionArguments)
  case planarPairRows(PlanarPairRows)
  case packConvolutionWeights(PackingArguments, blockChannels: Int, panelBlocks: Int)
  case winogradInput(WinogradTiles, InputTransformArguments)
  case winogradOutput(WinogradOutputArguments)
  case packWinogradWeights(PackingArguments, form: WinogradForm, scale: UnsafePointer<Float>?)
  case expandWinogradWeights(WinogradExpansionArguments)
  case pieceInput(
    tiles: Int, blockChannels: Int, rows: Int, width: Int, InputTransformArguments)
  case pieceOutput(PieceOutput)
  case pieceSums(PieceSums)
  case pieceSumOutput(PieceOutput)
  case upsampledInput(UpsampledTiles, InputTransformArguments)
  case upsampledOutput(UpsampledOutput)
  case dense(DenseArguments)
  case combineRows(RowCombination)
  case softmaxRows(SoftmaxRows)
  case expandWeights(ExpansionArguments)
  case packFixedRow(UnsafeRawPointer, columns: Int, to: UnsafeMutableRawPointer)
  case unary(UnaryArguments)
  case combine(CombiningArguments)
  case pool(PoolingArguments)
  case reduce(Reduction, UnsafePointer<Float>, count: Int)
  case reduceBlock(
    Reduction, UnsafePointer<Float>, pixels: Int, to: UnsafeMutablePointer<Float>)
  case softmax(UnsafePointer<Float>, to: UnsafeMutablePointer<Float>, count: Int)
  case blockedSoftmax(BlockedSoftmax)
  case block(LayoutArguments)
  case unblock(LayoutArguments)
  case multiplyAddLoop(rounds: Int, start: Float)
}

/// The result of a kernel.
package struct KernelAnswer: Sendable {
  package var float: Float = 0
  package var double: Double = 0
  package var count = 0
}

/// The first output of the emulated program: the table's constants, and sizes that both sides
/// share.
package struct EmulatedConstants: Sendable, Equatable {
  package var channelBlock = 0
  package var panelBlocks = 0
  package var pixelTile = 0
  package var planarOutputs = 0
  package var callByteCount = MemoryLayout<KernelCall>.size
  package var answerByteCount = MemoryLayout<KernelAnswer>.size
  package var argumentByteCounts =
    MemoryLayout<DenseArguments>.size &* 0x1_0000_0000
    &+ MemoryLayout<WinogradExpansionArguments>.size &* 0x1_0000
    &+ MemoryLayout<ConvolutionArguments>.size
}
