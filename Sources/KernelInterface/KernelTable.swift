/// The kernels of one instruction set. Each kernel module has one conforming type.
///
/// The layout of activations is `[batch][channel / channelBlock][row][column][channelBlock]`
/// floats, with any stride between rows and planes. Lanes beyond the last channel must be zeros
/// wherever a kernel sums over channels. Kernels are pure functions of what their arguments point
/// to and may run on any number of threads; addresses need only the alignment of a float. Strides
/// are in floats.
package protocol KernelTable: Sendable {
  /// Number of channels in a block: 8 or 16.
  static var channelBlock: Int { get }
  /// Number of channel blocks in a full panel of convolution weights: 1 or 2.
  static var panelBlocks: Int { get }
  /// Output pixels that `convolution` computes at once; rows whose length is a multiple of it are
  /// fastest.
  static var pixelTile: Int { get }
  /// Maximum number of output channels that `planarConvolution` computes at once.
  static var planarOutputs: Int { get }

  // MARK: Convolution by taps

  /// Blocked, planar or interleaved input; blocked output. The weights are panels from
  /// `packConvolutionWeights`.
  ///
  /// Terms are summed in index order, in parts of about 32 terms; the order does not depend on how
  /// rows or output channels are divided among calls. A blocked input has a pixel stride and
  /// `blockChannels` equal to `channelBlock`. A planar one has 1 and 1, and each plane is a block.
  /// An interleaved one with C channels has C and C, and a single block. An output whose pixel
  /// stride is larger than `channelBlock` skips pixels, for the phases of a transposed convolution.
  ///
  /// With tiles, results whose sum is not finite are computed by multiply-adds, and numbers below
  /// 2⁻¹²⁶, also as products of parts, count as zero. Without whole blocks of adjacent inputs, or
  /// AVX-512, tiles are not used.
  static func convolution(_ a: ConvolutionArguments)

  /// One input channel per group and as many outputs as inputs, blocked. The weights are
  /// `[block][ky][kx][channelBlock]`, from `packConvolutionWeights`.
  static func depthwiseConvolution(_ a: ConvolutionArguments)

  /// Any convolution whose groups do not fill whole blocks, one output channel at a time. Input and
  /// output are blocked and start at channel 0; of the epilogue, only the bias is added.
  ///
  /// The weights are `[outputChannel][inputChannel of the group][ky][kx]`, with
  /// `a.blockChannels` input channels per group. Output channel `o` belongs to group
  /// `o / groupOutputs`.
  ///
  /// - Parameter channels: the channels to compute. In the last block, lanes beyond the last
  ///   channel are not written.
  static func generalConvolution(_ a: ConvolutionArguments, groupOutputs: Int, channels: Range<Int>)

  /// Stride 1, from planes to planes, for few output channels; of the epilogue, only the bias is
  /// added.
  ///
  /// The weights are `[output / g][input][ky][kx][output % g]`, where `g` is
  /// `planarGroup(outputs)`; an incomplete last group is padded with zeros. Terms are summed in
  /// index order.
  static func planarConvolution(_ a: ConvolutionArguments)

  /// One or two rows of a planar convolution with three rows of taps, by Winograd's F(2, 3) along
  /// the columns: two thirds of the multiply-adds. The input comes from `planarPairRows`, with at
  /// least one plane; there is at least one column of taps.
  ///
  /// The weights are `[output / g][half][input][column][row of the half][output %
  /// g]`, with `g` as in `planarConvolution`. For a column of weights `v`, `half` 0 has `(v₀
  /// + v₁ + v₂) / 2` and `(v₀ − v₁ + v₂) / 2`, and `half` 1 has `v₀` and `v₂`.
  static func planarPair(_ a: ConvolutionArguments)

  /// Transforms four rows `d` of a plane to `d₁ + d₂`, `d₂ − d₁`, `d₀ − d₂` and `d₃ − d₁`.
  /// The rows `ahead` floats after the last two, which the next call needs, are prefetched; they
  /// need not exist.
  static func planarPairRows(
    _ d0: UnsafePointer<Float>, _ d1: UnsafePointer<Float>, _ d2: UnsafePointer<Float>,
    _ d3: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, rowStride: Int, count: Int,
    ahead: Int)

  /// Packs weights into panels for `convolution` or blocks for `depthwiseConvolution`:
  ///
  ///     packed[panel][inputBlock][ky][kx][c][column] = w[o][i][ky][kx]
  ///
  /// with `o = panel · panelWidth + column` and `i = inputBlock · blockChannels + c`.
  /// Depthwise weights are packed as if there were one input channel, with `blockChannels` and
  /// `panelBlocks` 1.
  ///
  /// - Parameter panelBlocks: number of channel blocks in a full panel: the table's, or 1.
  static func packConvolutionWeights(_ a: PackingArguments, blockChannels: Int, panelBlocks: Int)

  // MARK: Convolution by Winograd's algorithm

  /// Transforms input tiles. The input starts at tap (0, 0) of output pixel (0, 0) of the first
  /// image, blocked. With r taps along an axis, r − 1 more values are read than there are outputs.
  static func winogradInput(_ tiles: WinogradTiles, _ a: InputTransformArguments)

  static func winogradOutput(_ a: WinogradOutputArguments)

  /// Packs weights into panels for `winogradOutput`:
  ///
  ///     packed[panel][point][c][column] = scale[o] · (G g Gᵀ)[point / n][point % n]
  ///
  /// with `o = panel · panelWidth + column`, where `g` is the kernel from channel `c` to `o`.
  /// Computed in double precision and rounded once. n is the number of points of the horizontal
  /// axis.
  ///
  /// - Parameter scale: one per output channel; nil is one.
  static func packWinogradWeights(
    _ a: PackingArguments, form: WinogradForm, scale: UnsafePointer<Float>?)

  static func expandWinogradWeights(_ a: WinogradExpansionArguments)

  /// Transforms a row of tiles; the input starts at pixel (0, 0) of the first tile.
  ///
  /// - Parameters:
  ///   - blockChannels: `channelBlock`, or 1 for planes.
  ///   - rows, width: size of the input from that pixel on; everything beyond counts as zero and is
  ///     not read.
  static func pieceInput(
    tiles: Int, blockChannels: Int, rows: Int, width: Int, _ a: InputTransformArguments)

  /// A row of tiles: `out = activation(bias + Aᵀ m A)` with
  /// `m = products[point][block][tile][channel]`. The residual is ignored.
  ///
  /// - Parameters:
  ///   - output: pixel (0, 0) of the first tile, channel 0; blocked.
  ///   - extent: size of the output from that pixel on; nothing beyond is written.
  static func pieceOutput(
    products: UnsafePointer<Float>, pointStride: Int, blockStride: Int, tiles: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, extent: Extent, epilogue: Epilogue)

  /// For few output channels, the products of all pieces are computed next to each other and then
  /// added here. For one point and one row of pieces:
  ///
  ///     sums[tile][c] (+)= Σ(p < pieces) products[tile + p][p · channels + c]    c < 4
  ///
  /// Lanes from `channels` on contain whatever follows in the products.
  ///
  /// - Parameters:
  ///   - products: products of the row's first piece. Four values are read from each piece's first
  ///     channel on.
  ///   - channels: at most 4.
  ///   - accumulates: whether to add to the existing sums.
  static func pieceSums(
    products: UnsafePointer<Float>, tileStride: Int, tiles: Int, pieces: Int, channels: Int,
    sums: UnsafeMutablePointer<Float>, accumulates: Bool)

  /// A row of tiles with few channels: `out[c] = bias[c] + Aᵀ m A` with
  /// `m = sums[point][tile][c]`, in planes.
  ///
  /// - Parameters:
  ///   - sums: space for a multiple of four tiles per point.
  ///   - extent: size of the output from pixel (0, 0) of the first tile on; nothing beyond is
  ///     written.
  ///   - bias: four values; nil is zero.
  static func pieceSumOutput(
    sums: UnsafePointer<Float>, pointStride: Int, tiles: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, extent: Extent,
    bias: UnsafePointer<Float>?)

  /// Transforms input tiles. The input is pixel (0, 0), channel 0, of the image; blocked.
  /// Everything outside the image counts as zero and is not read.
  static func upsampledInput(_ tiles: UpsampledTiles, _ a: InputTransformArguments)

  /// One channel block of one phase: `out = activation(bias + Aᵀ m A)` with
  /// `m = products[point][tile][lane]`. The residual is ignored.
  ///
  /// - Parameters:
  ///   - output: pixel (0, 0) of the block's plane of the large image.
  ///   - epilogue: the epilogue for this block.
  static func upsampledOutput(
    _ tiles: UpsampledTiles, phaseY: Int, phaseX: Int, products: UnsafePointer<Float>,
    pointStride: Int, output: UnsafeMutablePointer<Float>, outputRowStride: Int, epilogue: Epilogue)

  // MARK: Matrices

  static func dense(_ a: DenseArguments)

  /// Terms are summed in index order.
  static func combineRows(_ a: RowCombination)
  static func expandWeights(_ a: ExpansionArguments)

  /// Packs a row of floats, possibly unaligned, into a `FixedRow`.
  ///
  /// - Parameter packed: `FixedRow.paddedColumns` times `FixedRow.bytesPerColumn` bytes.
  static func packFixedRow(
    _ source: UnsafeRawPointer, columns: Int, to packed: UnsafeMutableRawPointer
  ) -> FixedRowSummary

  // MARK: Elements

  static func unary(_ a: UnaryArguments)
  static func combine(_ a: CombiningArguments)
  static func pool(_ a: PoolingArguments)

  /// Reduces a contiguous vector to one value, in an order that depends only on `count`. An empty
  /// vector gives the neutral element (0, 1, -∞, ∞).
  static func reduce(_ function: Reduction, _ input: UnsafePointer<Float>, count: Int) -> Float

  /// Reduces adjacent blocked pixels to one value per channel (`channelBlock` floats), in an order
  /// that depends only on `pixels`.
  static func reduceBlock(
    _ function: Reduction, _ input: UnsafePointer<Float>, pixels: Int,
    to output: UnsafeMutablePointer<Float>)

  /// `out[i] = exp(x[i] - max) / Σ exp(x[j] - max)` over a contiguous vector; input and
  /// output may be the same.
  static func softmax(
    _ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, count: Int)

  /// The softmax of each row, in place, after the mask is added. A result below `exp(-87.3)` times
  /// that of the largest score is 0.
  static func softmaxRows(_ a: SoftmaxRows)

  /// The softmax over the channels of each of `pixels` adjacent blocked pixels; input and output
  /// may be the same. Lanes beyond `channels` become zeros.
  static func blockedSoftmax(
    _ input: UnsafePointer<Float>, blockStride: Int, to output: UnsafeMutablePointer<Float>,
    outputBlockStride: Int, pixels: Int, channels: Int)

  // MARK: Layout

  /// Converts planes to one channel block: `out[y][x][l] = scale[l] · in[l][y][x] + bias[l]`
  /// for the first `channels` lanes, 0 for the others.
  ///
  /// - Parameters:
  ///   - scale, bias: one per channel; nil is 1 and 0.
  static func block(
    _ input: UnsafePointer<Float>, _ inputStrides: Strides, channels: Int, rows: Int, width: Int,
    scale: UnsafePointer<Float>?, bias: UnsafePointer<Float>?,
    to output: UnsafeMutablePointer<Float>, rowStride: Int)

  /// Converts one channel block to planes: `out[l][y][x] = in[y][x][l]` for the first `channels`
  /// lanes.
  static func unblock(
    _ input: UnsafePointer<Float>, rowStride: Int, channels: Int, rows: Int, width: Int,
    to output: UnsafeMutablePointer<Float>, _ outputStrides: Strides)

  /// Multiply-adds in registers, in chains, each of which waits only for its previous step:
  /// the maximum rate of the processor.
  ///
  /// All lanes of chain k compute `x ← 0.999 x + 0.001`, `rounds` times from `start + k / 10`.
  ///
  /// - Returns: the number of multiply-adds, and the sum of all lanes of all chains.
  static func multiplyAddLoop(rounds: Int, start: Float) -> (count: Int, sum: Float)
}

extension KernelTable {
  /// How many of `outputs` output channels `planarConvolution` and `planarPair` compute at once,
  /// divided as evenly as possible.
  package static func planarGroup(_ outputs: Int) -> Int {
    let times = (outputs + planarOutputs - 1) / planarOutputs
    return (outputs + times - 1) / max(times, 1)
  }
}
