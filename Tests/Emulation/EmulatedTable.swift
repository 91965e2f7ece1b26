import KernelInterface

/// The arm64 kernels, run by an emulated program. Replaces the table of the baseline.
package enum Table: KernelTable {
  private static var constants: EmulatedConstants { Emulator.shared.constants }

  @discardableResult
  private static func call(_ call: KernelCall) -> KernelAnswer { Emulator.shared.perform(call) }

  package static var channelBlock: Int { constants.channelBlock }
  package static var panelBlocks: Int { constants.panelBlocks }
  package static var pixelTile: Int { constants.pixelTile }
  package static var planarOutputs: Int { constants.planarOutputs }

  package static func convolution(_ a: ConvolutionArguments) { call(.convolution(a)) }

  package static func depthwiseConvolution(_ a: ConvolutionArguments) {
    call(.depthwiseConvolution(a))
  }

  package static func generalConvolution(
    _ a: ConvolutionArguments, groupOutputs: Int, channels: Range<Int>
  ) {
    call(.generalConvolution(a, groupOutputs: groupOutputs, channels: channels))
  }

  package static func planarConvolution(_ a: ConvolutionArguments) { call(.planarConvolution(a)) }

  package static func planarPair(_ a: ConvolutionArguments) { call(.planarPair(a)) }

  package static func planarPairRows(_ a: PlanarPairRows) { call(.planarPairRows(a)) }

  package static func packConvolutionWeights(
    _ a: PackingArguments, blockChannels: Int, panelBlocks: Int
  ) {
    call(.packConvolutionWeights(a, blockChannels: blockChannels, panelBlocks: panelBlocks))
  }

  package static func winogradInput(_ tiles: WinogradTiles, _ a: InputTransformArguments) {
    call(.winogradInput(tiles, a))
  }

  package static func winogradOutput(_ a: WinogradOutputArguments) { call(.winogradOutput(a)) }

  package static func packWinogradWeights(
    _ a: PackingArguments, form: WinogradForm, scale: UnsafePointer<Float>?
  ) {
    call(.packWinogradWeights(a, form: form, scale: scale))
  }

  package static func expandWinogradWeights(_ a: WinogradExpansionArguments) {
    call(.expandWinogradWeights(a))
  }

  package static func pieceInput(
    tiles: Int, blockChannels: Int, rows: Int, width: Int, _ a: InputTransformArguments
  ) {
    call(
      .pieceInput(tiles: tiles, blockChannels: blockChannels, rows: rows, width: width, a))
  }

  package static func pieceOutput(_ a: PieceOutput) { call(.pieceOutput(a)) }

  package static func pieceSums(_ a: PieceSums) { call(.pieceSums(a)) }

  package static func pieceSumOutput(_ a: PieceOutput) { call(.pieceSumOutput(a)) }

  package static func upsampledInput(_ tiles: UpsampledTiles, _ a: InputTransformArguments) {
    call(.upsampledInput(tiles, a))
  }

  package static func upsampledOutput(_ a: UpsampledOutput) { call(.upsampledOutput(a)) }

  package static func dense(_ a: DenseArguments) { call(.dense(a)) }

  package static func combineRows(_ a: RowCombination) { call(.combineRows(a)) }

  package static func softmaxRows(_ a: SoftmaxRows) { call(.softmaxRows(a)) }

  package static func expandWeights(_ a: ExpansionArguments) { call(.expandWeights(a)) }

  package static func packFixedRow(
    _ source: UnsafeRawPointer, columns: Int, to packed: UnsafeMutableRawPointer
  ) -> FixedRowSummary {
    let answer = call(.packFixedRow(source, columns: columns, to: packed))
    return FixedRowSummary(scale: answer.float, peak: answer.double)
  }

  package static func unary(_ a: UnaryArguments) { call(.unary(a)) }

  package static func combine(_ a: CombiningArguments) { call(.combine(a)) }

  package static func pool(_ a: PoolingArguments) { call(.pool(a)) }

  package static func reduce(
    _ function: Reduction, _ input: UnsafePointer<Float>, count: Int
  ) -> Float {
    call(.reduce(function, input, count: count)).float
  }

  package static func reduceBlock(
    _ function: Reduction, _ input: UnsafePointer<Float>, pixels: Int,
    to output: UnsafeMutablePointer<Float>
  ) {
    call(.reduceBlock(function, input, pixels: pixels, to: output))
  }

  package static func softmax(
    _ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, count: Int
  ) {
    call(.softmax(input, to: output, count: count))
  }

  package static func blockedSoftmax(_ a: BlockedSoftmax) { call(.blockedSoftmax(a)) }

  package static func block(_ a: LayoutArguments) { call(.block(a)) }

  package static func unblock(_ a: LayoutArguments) { call(.unblock(a)) }

  package static func multiplyAddLoop(rounds: Int, start: Float) -> (count: Int, sum: Float) {
    let answer = call(.multiplyAddLoop(rounds: rounds, start: start))
    return (answer.count, answer.float)
  }
}
