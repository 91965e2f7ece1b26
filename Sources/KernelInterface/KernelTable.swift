/// The kernels of one instruction set. Each kernel module has one conforming type.
///
/// The layout of activations is `[batch][channel / channelBlock][row][column][channelBlock]`
/// floats, with any stride between rows and planes. Lanes beyond the last channel must be zero
/// wherever a kernel sums over channels. Kernels are pure functions of the memory that their
/// arguments point to and may run on any number of threads; addresses need only the alignment of a
/// float. Strides are in floats.
package protocol KernelTable: Sendable {
  /// Number of channels in a block: 8 or 16.
  static var channelBlock: Int { get }
  /// Number of channel blocks in a full panel of convolution weights: 1 or 2.
  static var panelBlocks: Int { get }
  /// Number of output pixels that `convolution` computes at once; rows whose length is a multiple
  /// of it are fastest.
  static var pixelTile: Int { get }
  /// Maximum number of output channels that `planarConvolution` computes at once.
  static var planarOutputs: Int { get }

  // MARK: Convolution by taps

  /// Blocked, planar or interleaved input; blocked output. The weights are panels from
  /// `packConvolutionWeights`.
  ///
  /// Terms are summed in index order, in parts of about 32 terms; the order does not depend on how
  /// rows or output channels are divided among calls. In a blocked input, the pixel stride and
  /// `blockChannels` are `channelBlock`. In a planar one, both are 1, and each plane is a block. In
  /// an interleaved one with C channels, both are C, and there is one block. An output whose pixel
  /// stride is larger than `channelBlock` skips pixels, for the phases of a transposed convolution.
  ///
  /// With `bytes`, sums of integers are exact. AVX2 and AVX-512 need VNNI.
  ///
  /// With tiles, results whose sum is not finite are computed by multiply-adds, and numbers below
  /// 2⁻¹²⁶, including products of parts, count as zero. Tiles require whole blocks of adjacent
  /// inputs and AVX-512.
  static func convolution(_ a: ConvolutionArguments)

  /// A blocked convolution with one input channel per group and as many outputs. The weights are
  /// `[block][ky][kx][channelBlock]`, from `packConvolutionWeights`.
  static func depthwiseConvolution(_ a: ConvolutionArguments)

  /// Any convolution whose groups do not fill whole blocks, one output channel at a time. Input and
  /// output are blocked and start at channel 0; of the epilogue, only the bias is applied.
  ///
  /// The weights are `[outputChannel][inputChannel of the group][ky][kx]`, with
  /// `a.blockChannels` input channels per group. Output channel `o` belongs to group
  /// `o / groupOutputs`.
  ///
  /// - Parameter channels: the channels to compute. In the last block, lanes beyond the last
  ///   channel are not written.
  static func generalConvolution(_ a: ConvolutionArguments, groupOutputs: Int, channels: Range<Int>)

  /// A convolution with stride 1 and few output channels, from planes to planes; of the epilogue,
  /// only the bias is applied.
  ///
  /// The weights are `[output / g][input][ky][kx][output % g]`, where `g` is
  /// `planarGroup(outputs)`; an incomplete last group is padded with zeros. Terms are summed in
  /// index order.
  static func planarConvolution(_ a: ConvolutionArguments)

  /// Computes one or two rows of a planar convolution with three rows of taps, by Winograd's
  /// F(2, 3) along the columns: two thirds of the multiply-adds. The input comes from
  /// `planarPairRows`, with at least one plane and one column of taps.
  ///
  /// The weights are `[output / g][half][input][column][row of the half][output %
  /// g]`, with `g` as in `planarConvolution`. For a column of weights `v`, `half` 0 has `(v₀
  /// + v₁ + v₂) / 2` and `(v₀ − v₁ + v₂) / 2`, and `half` 1 has `v₀` and `v₂`.
  static func planarPair(_ a: ConvolutionArguments)

  /// Transforms four rows `d` of a plane to `d₁ + d₂`, `d₂ − d₁`, `d₀ − d₂` and `d₃ − d₁`.
  static func planarPairRows(_ a: PlanarPairRows)

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

  /// Prepares the input of a convolution with `ByteSums`.
  static func roundToBytes(_ a: ByteRounding)

  // MARK: Convolution by Winograd's algorithm

  /// Transforms input tiles. The blocked input starts at tap (0, 0) of output pixel (0, 0) of the
  /// first image. Along an axis with r taps, it has r − 1 more values than the output.
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

  /// Blocked output, with `m = products[point][block][tile][channel]`.
  static func pieceOutput(_ a: PieceOutput)

  static func pieceSums(_ a: PieceSums)

  /// Planes of few channels, with `m = products[point][tile][c]`, from `pieceSums`. The products have
  /// space for a multiple of four tiles per point, and the bias has four values. There is no
  /// activation.
  static func pieceSumOutput(_ a: PieceOutput)

  /// Transforms input tiles. The input is blocked and starts at pixel (0, 0), channel 0, of the
  /// image. Everything outside the image counts as zero and is not read.
  static func upsampledInput(_ tiles: UpsampledTiles, _ a: InputTransformArguments)

  static func upsampledOutput(_ a: UpsampledOutput)

  // MARK: Matrices

  static func dense(_ a: DenseArguments)

  /// Sums terms in index order.
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

  /// Input and output may be the same. Lanes beyond the channels become zeros.
  static func blockedSoftmax(_ a: BlockedPixels)

  /// Input and output may be the same. Lanes beyond the channels become zeros.
  static func blockedNormalization(_ a: BlockedNormalization)

  // MARK: Layout

  /// Converts planes to one channel block: `out[y][x][l] = scale[l] · in[l][y][x] + bias[l]` for
  /// the channels, 0 for the other lanes.
  static func block(_ a: LayoutArguments)

  /// Converts one channel block to planes: `out[l][y][x] = in[y][x][l]` for the channels.
  static func unblock(_ a: LayoutArguments)

  /// Runs chains of multiply-adds in registers, as fast as the processor can: each step waits only
  /// for the previous one in its chain.
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
