import KernelInterface

/// The kernels of this module's instruction set. Nothing else is visible from outside.
@inline(never)
package func makeKernelTable() -> KernelTable {
  KernelTable(
    channelBlock: channelBlock, panelBlocks: panelVectors / vectorsPerBlock, pixelTile: pixelTile,
    planarOutputs: planarOutputs,
    convolution: { convolution($0) }, depthwiseConvolution: { depthwiseConvolution($0) },
    generalConvolution: { generalConvolution($0) },
    planarConvolution: { planarConvolution($0) }, planarPairRows: { planarPairRows($0) },
    planarPair: { planarPair($0) }, pieceInput: { pieceInput($0) },
    pieceOutput: { pieceOutput($0) }, pieceSums: { pieceSums($0) },
    pieceSumOutput: { pieceSumOutput($0) },
    upsampledInput: { upsampledInput($0) }, upsampledOutput: { upsampledOutput($0) },
    packConvolutionWeights: { packConvolutionWeights($0) },
    winogradInput: { winogradInput($0) }, winogradOutput: { winogradOutput($0) },
    packWinogradWeights: { packWinogradWeights($0) },
    expandWinogradWeights: { expandWinogradWeights($0) },
    strassenInput: { strassenInput($0) }, strassenOutput: { strassenOutput($0) },
    dense: { dense($0) }, packFixedRow: { packFixedRow($0) },
    expandWeights: { expandWeights($0) },
    matrixProduct: { matrixProduct($0) }, unary: { unary($0) }, combine: { combine($0) },
    pool: { pool($0) }, reduce: { reduce($0) }, reducePlane: { reducePlane($0) },
    softmax: { softmax($0) }, blockedSoftmax: { blockedSoftmax($0) }, block: { block($0) },
    unblock: { unblock($0) })
}
