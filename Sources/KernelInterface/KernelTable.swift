/// The kernels of one instruction set.
///
/// Activations stand as `[batch][channel / channelBlock][row][column][channelBlock]` floats, rows and
/// planes at any stride. Lanes beyond the last channel are zeros wherever a kernel sums over
/// channels. Kernels are pure functions of what their arguments point to and may run on any number
/// of threads; no address needs more than the alignment of a float.
package struct KernelTable: Sendable {
  /// Channels that stand side by side: 8 or 16.
  package let channelBlock: Int
  /// Channel blocks of a full panel of convolution weights: 1 or 2.
  package let panelBlocks: Int
  /// Output pixels that `convolution` computes at once; rows of a multiple of it run best.
  package let pixelTile: Int
  /// Output channels that `planarConvolution` computes at once, at most.
  package let planarOutputs: Int

  package let convolution: @Sendable (ConvolutionArguments) -> Void
  package let depthwiseConvolution: @Sendable (DepthwiseConvolutionArguments) -> Void
  package let generalConvolution: @Sendable (GeneralConvolutionArguments) -> Void
  package let planarConvolution: @Sendable (PlanarConvolutionArguments) -> Void
  package let planarPairRows: @Sendable (PlanarPairRows) -> Void
  package let planarPair: @Sendable (PlanarPairArguments) -> Void
  package let pieceInput: @Sendable (PieceInputArguments) -> Void
  package let pieceOutput: @Sendable (PieceOutputArguments) -> Void
  package let pieceSums: @Sendable (PieceSumArguments) -> Void
  package let pieceSumOutput: @Sendable (PieceSumOutputArguments) -> Void
  package let upsampledInput: @Sendable (UpsampledInputArguments) -> Void
  package let upsampledOutput: @Sendable (UpsampledOutputArguments) -> Void
  package let packConvolutionWeights: @Sendable (PackingArguments) -> Void
  package let winogradInput: @Sendable (WinogradInputArguments) -> Void
  package let winogradOutput: @Sendable (WinogradOutputArguments) -> Void
  package let packWinogradWeights: @Sendable (WinogradPackingArguments) -> Void
  package let expandWinogradWeights: @Sendable (WinogradExpansionArguments) -> Void
  package let strassenInput: @Sendable (StrassenInputArguments) -> Void
  package let strassenOutput: @Sendable (StrassenOutputArguments) -> Void
  package let dense: @Sendable (DenseArguments) -> Void
  package let packFixedRow: @Sendable (FixedRowArguments) -> FixedRowSummary
  package let expandWeights: @Sendable (ExpansionArguments) -> Void
  package let matrixProduct: @Sendable (MatrixProductArguments) -> Void
  package let unary: @Sendable (UnaryArguments) -> Void
  package let combine: @Sendable (CombiningArguments) -> Void
  package let pool: @Sendable (PoolingArguments) -> Void
  package let reduce: @Sendable (ReductionArguments) -> Float
  package let reducePlane: @Sendable (PlaneReductionArguments) -> Void
  package let softmax: @Sendable (SoftmaxArguments) -> Void
  package let blockedSoftmax: @Sendable (BlockedSoftmaxArguments) -> Void
  package let block: @Sendable (BlockingArguments) -> Void
  package let unblock: @Sendable (UnblockingArguments) -> Void

  package init(
    channelBlock: Int, panelBlocks: Int, pixelTile: Int, planarOutputs: Int,
    convolution: @escaping @Sendable (ConvolutionArguments) -> Void,
    depthwiseConvolution: @escaping @Sendable (DepthwiseConvolutionArguments) -> Void,
    generalConvolution: @escaping @Sendable (GeneralConvolutionArguments) -> Void,
    planarConvolution: @escaping @Sendable (PlanarConvolutionArguments) -> Void,
    planarPairRows: @escaping @Sendable (PlanarPairRows) -> Void,
    planarPair: @escaping @Sendable (PlanarPairArguments) -> Void,
    pieceInput: @escaping @Sendable (PieceInputArguments) -> Void,
    pieceOutput: @escaping @Sendable (PieceOutputArguments) -> Void,
    pieceSums: @escaping @Sendable (PieceSumArguments) -> Void,
    pieceSumOutput: @escaping @Sendable (PieceSumOutputArguments) -> Void,
    upsampledInput: @escaping @Sendable (UpsampledInputArguments) -> Void,
    upsampledOutput: @escaping @Sendable (UpsampledOutputArguments) -> Void,
    packConvolutionWeights: @escaping @Sendable (PackingArguments) -> Void,
    winogradInput: @escaping @Sendable (WinogradInputArguments) -> Void,
    winogradOutput: @escaping @Sendable (WinogradOutputArguments) -> Void,
    packWinogradWeights: @escaping @Sendable (WinogradPackingArguments) -> Void,
    expandWinogradWeights: @escaping @Sendable (WinogradExpansionArguments) -> Void,
    strassenInput: @escaping @Sendable (StrassenInputArguments) -> Void,
    strassenOutput: @escaping @Sendable (StrassenOutputArguments) -> Void,
    dense: @escaping @Sendable (DenseArguments) -> Void,
    packFixedRow: @escaping @Sendable (FixedRowArguments) -> FixedRowSummary,
    expandWeights: @escaping @Sendable (ExpansionArguments) -> Void,
    matrixProduct: @escaping @Sendable (MatrixProductArguments) -> Void,
    unary: @escaping @Sendable (UnaryArguments) -> Void,
    combine: @escaping @Sendable (CombiningArguments) -> Void,
    pool: @escaping @Sendable (PoolingArguments) -> Void,
    reduce: @escaping @Sendable (ReductionArguments) -> Float,
    reducePlane: @escaping @Sendable (PlaneReductionArguments) -> Void,
    softmax: @escaping @Sendable (SoftmaxArguments) -> Void,
    blockedSoftmax: @escaping @Sendable (BlockedSoftmaxArguments) -> Void,
    block: @escaping @Sendable (BlockingArguments) -> Void,
    unblock: @escaping @Sendable (UnblockingArguments) -> Void
  ) {
    self.channelBlock = channelBlock
    self.panelBlocks = panelBlocks
    self.pixelTile = pixelTile
    self.planarOutputs = planarOutputs
    self.convolution = convolution
    self.depthwiseConvolution = depthwiseConvolution
    self.generalConvolution = generalConvolution
    self.planarConvolution = planarConvolution
    self.planarPairRows = planarPairRows
    self.planarPair = planarPair
    self.pieceInput = pieceInput
    self.pieceOutput = pieceOutput
    self.pieceSums = pieceSums
    self.pieceSumOutput = pieceSumOutput
    self.upsampledInput = upsampledInput
    self.upsampledOutput = upsampledOutput
    self.packConvolutionWeights = packConvolutionWeights
    self.winogradInput = winogradInput
    self.winogradOutput = winogradOutput
    self.packWinogradWeights = packWinogradWeights
    self.expandWinogradWeights = expandWinogradWeights
    self.strassenInput = strassenInput
    self.strassenOutput = strassenOutput
    self.dense = dense
    self.packFixedRow = packFixedRow
    self.expandWeights = expandWeights
    self.matrixProduct = matrixProduct
    self.unary = unary
    self.combine = combine
    self.pool = pool
    self.reduce = reduce
    self.reducePlane = reducePlane
    self.softmax = softmax
    self.blockedSoftmax = blockedSoftmax
    self.block = block
    self.unblock = unblock
  }

  /// Output channels that `planarConvolution` and `planarPair` compute at once, of `outputs` in
  /// all: as many each time, as far as that goes.
  package func planarGroup(_ outputs: Int) -> Int {
    let times = (outputs + planarOutputs - 1) / planarOutputs
    return (outputs + times - 1) / max(times, 1)
  }
}
