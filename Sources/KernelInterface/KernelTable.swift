/// The kernels of one instruction set; each module of kernels has one type that conforms.
///
/// Activations stand as `[batch][channel / channelBlock][row][column][channelBlock]` floats, rows and
/// planes at any stride. Lanes beyond the last channel are zeros wherever a kernel sums over
/// channels. Kernels are pure functions of what their arguments point to and may run on any number
/// of threads; no address needs more than the alignment of a float. Strides count floats.
package protocol KernelTable: Sendable {
  /// Channels that stand side by side: 8 or 16.
  static var channelBlock: Int { get }
  /// Channel blocks of a full panel of convolution weights: 1 or 2.
  static var panelBlocks: Int { get }
  /// Output pixels that `convolution` computes at once; rows of a multiple of it run best.
  static var pixelTile: Int { get }
  /// Output channels that `planarConvolution` computes at once, at most.
  static var planarOutputs: Int { get }

  // MARK: Convolution by taps

  /// Blocked, planar or interleaved input; blocked output. The weights are panels from
  /// `packConvolutionWeights`.
  ///
  /// The order of the sum is the order of the indices, in parts of some 32 terms, and does not
  /// depend on how rows or output channels are divided among calls. A blocked input has a pixel
  /// stride and `blockChannels` equal to `channelBlock`; a planar one 1 and 1, a block being a plane;
  /// an interleaved one of C channels C and C, and a single block. An output whose pixel stride is
  /// wider than `channelBlock` leaves pixels out, for the phases of a transposed convolution.
  static func convolution(_ a: ConvolutionArguments)

  /// One input channel a group and as many outputs as inputs, blocked. The weights stand as
  /// `[block][ky][kx][channelBlock]`, from `packConvolutionWeights`.
  static func depthwiseConvolution(_ a: ConvolutionArguments)

  /// Any convolution whose groups do not fill whole blocks, one output channel at a time. Input and
  /// output are blocked and start with channel 0 of all; of the epilogue, the bias alone is added.
  ///
  /// The weights stand as `[outputChannel][inputChannel of the group][ky][kx]`, with
  /// `a.blockChannels` input channels a group. Output channel `o` belongs to group
  /// `o / groupOutputs`.
  ///
  /// - Parameter channels: those to compute. Lanes of the last block beyond the last channel are not
  ///   written.
  static func generalConvolution(
    _ a: ConvolutionArguments, groupOutputs: Int, channels: Range<Int>)

  /// Stride 1, from planes to planes, for few output channels; of the epilogue, the bias alone is
  /// added.
  ///
  /// The weights stand as `[output / g][input][ky][kx][output % g]`, with `g`,
  /// `planarGroup(outputs)`, output channels side by side, and zeros where the last ones are fewer.
  /// The order of the sum is the order of the indices.
  static func planarConvolution(_ a: ConvolutionArguments)

  /// One or two rows of a planar convolution with three rows of taps, by Winograd's F(2, 3) along
  /// the columns: two thirds of the multiply-adds. The input is what `planarPairRows` makes, of at
  /// least one plane; there is at least one column of taps.
  ///
  /// The weights stand as `[output / g][half][input][column][row of the half][output % g]`, `g` as of
  /// `planarConvolution`; of a column of weights `v`, `half` 0 has `(v₀ + v₁ + v₂) / 2` and
  /// `(v₀ − v₁ + v₂) / 2`, and `half` 1 has `v₀` and `v₂`.
  static func planarPair(_ a: ConvolutionArguments)

  /// Four rows `d` of a plane become `d₁ + d₂`, `d₂ − d₁`, `d₀ − d₂` and `d₃ − d₁`. The rows `ahead`
  /// floats from the last two, which the next call needs, are asked for; they need not exist.
  static func planarPairRows(
    _ d0: UnsafePointer<Float>, _ d1: UnsafePointer<Float>, _ d2: UnsafePointer<Float>,
    _ d3: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, rowStride: Int, count: Int,
    ahead: Int)

  /// Weights → panels for `convolution`, or blocks for `depthwiseConvolution`:
  ///
  ///     packed[panel][inputBlock][ky][kx][c][column] = w[o][i][ky][kx]
  ///
  /// with `o = panel · panelWidth + column` and `i = inputBlock · blockChannels + c`. Depthwise
  /// weights are packed as of one input channel, with `blockChannels` and `panelBlocks` 1.
  ///
  /// - Parameter panelBlocks: channel blocks a full panel holds: the table's, or 1.
  static func packConvolutionWeights(_ a: PackingArguments, blockChannels: Int, panelBlocks: Int)

  // MARK: Convolution by Winograd's algorithm

  /// The input is the first image's, tap (0, 0) of output pixel (0, 0), blocked. What the taps of the
  /// output need is read: of r taps along an axis r − 1 values more than there are outputs.
  static func winogradInput(_ tiles: WinogradTiles, _ a: InputTransformArguments)

  static func winogradOutput(_ a: WinogradOutputArguments)

  /// Weights → panels for `winogradOutput`:
  ///
  ///     packed[panel][point][c][column] = scale[o] · (G g Gᵀ)[point / n][point % n]
  ///
  /// with `o = panel · panelWidth + column` and `g` the kernel from channel `c` to `o`, computed in
  /// double precision and rounded once. n is the points of the horizontal axis.
  ///
  /// - Parameter scale: one per output channel; nil is one.
  static func packWinogradWeights(
    _ a: PackingArguments, form: WinogradForm, scale: UnsafePointer<Float>?)

  static func expandWinogradWeights(_ a: WinogradExpansionArguments)

  /// A row of tiles; the input starts with the first tile's pixel (0, 0).
  ///
  /// - Parameters:
  ///   - blockChannels: `channelBlock`, or 1 for planes.
  ///   - rows, width: what there is of the input from the first pixel on; the rest counts as zero
  ///     and is not read.
  static func pieceInput(
    tiles: Int, blockChannels: Int, rows: Int, width: Int, _ a: InputTransformArguments)

  /// A row of tiles: `out = activation(bias + Aᵀ m A)` with `m = products[point][block][tile][channel]`.
  /// A residual is not added.
  ///
  /// - Parameters:
  ///   - output: pixel (0, 0) of the first tile, channel 0; blocked.
  ///   - extent: what there is of the output from there on; the rest is not written.
  static func pieceOutput(
    products: UnsafePointer<Float>, pointStride: Int, blockStride: Int, tiles: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, extent: Extent,
    epilogue: Epilogue)

  /// Where there are few output channels, those of all pieces are computed side by side, and added
  /// where they belong. For one point and one row of pieces:
  ///
  ///     sums[tile][c] (+)= Σ(p < pieces) products[tile + p][p · channels + c]    c < 4
  ///
  /// Lanes from `channels` on hold whatever follows in the products.
  ///
  /// - Parameters:
  ///   - products: of the row's first piece. From each piece's first channel on, four values are
  ///     read.
  ///   - channels: at most 4.
  ///   - accumulates: whether the sums continue what is there.
  static func pieceSums(
    products: UnsafePointer<Float>, tileStride: Int, tiles: Int, pieces: Int, channels: Int,
    sums: UnsafeMutablePointer<Float>, accumulates: Bool)

  /// A row of tiles of few channels: `out[c] = bias[c] + Aᵀ m A` with `m = sums[point][tile][c]`, in
  /// planes.
  ///
  /// - Parameters:
  ///   - sums: room for a multiple of four tiles a point.
  ///   - extent: what there is of the output from the first tile's pixel (0, 0) on; the rest is not
  ///     written.
  ///   - bias: four values; nil is zero.
  static func pieceSumOutput(
    sums: UnsafePointer<Float>, pointStride: Int, tiles: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, extent: Extent,
    bias: UnsafePointer<Float>?)

  /// The input is pixel (0, 0), channel 0, of the image; blocked. Outside of the image all is zero
  /// and nothing is read.
  static func upsampledInput(_ tiles: UpsampledTiles, _ a: InputTransformArguments)

  /// One channel block of one phase: `out = activation(bias + Aᵀ m A)` with
  /// `m = products[point][tile][lane]`. A residual is not added.
  ///
  /// - Parameters:
  ///   - output: pixel (0, 0) of the block's plane of the large image.
  ///   - epilogue: of the block.
  static func upsampledOutput(
    _ tiles: UpsampledTiles, phaseY: Int, phaseX: Int, products: UnsafePointer<Float>,
    pointStride: Int, output: UnsafeMutablePointer<Float>, outputRowStride: Int,
    epilogue: Epilogue)

  // MARK: Convolution by Strassen's algorithm

  /// The left factors of the seven products, `sums[product][block][pair][lane]`. `pair` counts from
  /// the call's first one.
  ///
  /// - Parameters:
  ///   - input: what output pixel (0, 0) of the first image reads, channel 0; blocked.
  ///   - inputStrides: between what neighbors read: the convolution's stride is part of these.
  ///   - blocks, allBlocks: channel blocks of the first half, and of both.
  static func strassenInput(
    _ pairs: StrassenPairs, input: UnsafePointer<Float>, inputStrides: Strides, blocks: Int,
    allBlocks: Int, sums: UnsafeMutablePointer<Float>, productStride: Int)

  /// The seven products of one panel of output channels → `out = activation(bias + C + residual)`, of
  /// both halves.
  ///
  /// - Parameters:
  ///   - products: `[product][pair][column]`, with `width` columns, whole blocks.
  ///   - channel: the panel's first channel in the first half; in the second it is `halfChannels`
  ///     more.
  ///   - channels: of both halves, whole blocks.
  ///   - output: pixel (0, 0), channel 0, of the first image; blocked.
  ///   - epilogue: of the whole output.
  static func strassenOutput(
    _ pairs: StrassenPairs, products: UnsafePointer<Float>, productStride: Int, width: Int,
    channel: Int, halfChannels: Int, channels: Int, output: UnsafeMutablePointer<Float>,
    outputStrides: Strides, epilogue: Epilogue)

  // MARK: Matrices

  static func dense(_ a: DenseArguments)
  static func matrixProduct(_ a: MatrixProductArguments)
  static func expandWeights(_ a: ExpansionArguments)

  /// A row of floats, possibly unaligned, → a `FixedRow`.
  ///
  /// - Parameter packed: `FixedRow.paddedColumns` times `FixedRow.bytesPerColumn` bytes.
  static func packFixedRow(
    _ source: UnsafeRawPointer, columns: Int, to packed: UnsafeMutableRawPointer
  ) -> FixedRowSummary

  // MARK: Elements

  static func unary(_ a: UnaryArguments)
  static func combine(_ a: CombiningArguments)
  static func pool(_ a: PoolingArguments)

  /// A contiguous vector → one value, in an order that depends on `count` alone. An empty vector
  /// gives the neutral element (0, 1, -∞, ∞).
  static func reduce(_ function: Reduction, _ input: UnsafePointer<Float>, count: Int) -> Float

  /// Adjacent blocked pixels → one value per channel (`channelBlock` floats), in an order that depends
  /// on `pixels` alone.
  static func reduceBlock(
    _ function: Reduction, _ input: UnsafePointer<Float>, pixels: Int,
    to output: UnsafeMutablePointer<Float>)

  /// `out[i] = exp(x[i] - max) / Σ exp(x[j] - max)` over a contiguous vector; in place is allowed.
  static func softmax(
    _ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, count: Int)

  /// The softmax over the channels of each of `pixels` adjacent blocked pixels; in place is allowed.
  /// Lanes beyond `channels` become zeros.
  static func blockedSoftmax(
    _ input: UnsafePointer<Float>, blockStride: Int, to output: UnsafeMutablePointer<Float>,
    outputBlockStride: Int, pixels: Int, channels: Int)

  // MARK: Layout

  /// Planes → one channel block: `out[y][x][l] = scale[l] · in[l][y][x] + bias[l]` for the `channels`
  /// first lanes, 0 for the others.
  ///
  /// - Parameters:
  ///   - scale, bias: one per channel; nil is 1 and 0.
  static func block(
    _ input: UnsafePointer<Float>, _ inputStrides: Strides, channels: Int, rows: Int, width: Int,
    scale: UnsafePointer<Float>?, bias: UnsafePointer<Float>?,
    to output: UnsafeMutablePointer<Float>, rowStride: Int)

  /// One channel block → planes: `out[l][y][x] = in[y][x][l]` for the `channels` first lanes.
  static func unblock(
    _ input: UnsafePointer<Float>, rowStride: Int, channels: Int, rows: Int, width: Int,
    to output: UnsafeMutablePointer<Float>, _ outputStrides: Strides)

  /// Multiply-adds that wait for nothing but their own predecessor in one of twelve chains, in
  /// registers: as many as the processor can do at all.
  ///
  /// - Returns: how many these were, and a number that depends on all of them.
  static func multiplyAddLoop(rounds: Int) -> (count: Int, sum: Float)
}

extension KernelTable {
  /// Output channels that `planarConvolution` and `planarPair` compute at once, of `outputs` in
  /// all: as many each time, as far as that goes.
  package static func planarGroup(_ outputs: Int) -> Int {
    let times = (outputs + planarOutputs - 1) / planarOutputs
    return (outputs + times - 1) / max(times, 1)
  }
}
