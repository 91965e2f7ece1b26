/// The tiles of a convolution with stride 1 whose kernel is cut into pieces of 3 × 3 taps, by
/// Winograd's F(3×3, 3×3).
///
/// Pieces lie 3 taps apart, as tiles of the output lie 3 pixels apart, so that one transformed 5 × 5
/// tile `d` of the input serves all pieces `g`:
///
///     out[ty, tx] = Aᵀ [Σ(py, px) (G g[py, px] Gᵀ) ⊙ (Bᵀ d[ty + py, tx + px] B)] A
///
/// with the points 0, 1, −1, 2 and ∞:
///
///          ⎡ 2  −1  −2   1  0 ⎤       ⎡  1/2     0     0  ⎤
///          ⎢ 0  −2  −1   1  0 ⎥       ⎢ −1/2  −1/2  −1/2 ⎥        ⎡ 1  1   1  1  0 ⎤
///     Bᵀ = ⎢ 0   2  −3   1  0 ⎥   G = ⎢ −1/6   1/6  −1/6 ⎥   Aᵀ = ⎢ 0  1  −1  2  0 ⎥
///          ⎢ 0  −1   0   1  0 ⎥       ⎢  1/6   1/3   2/3 ⎥        ⎣ 0  1   1  4  1 ⎦
///          ⎣ 0   2  −1  −2  1 ⎦       ⎣   0     0     1  ⎦
///
/// What stands between, a sum over channels and pieces for each of the 25 points, is an ordinary
/// convolution over tiles.
package enum Pieces {
  /// Taps of a piece and output pixels of a tile, along each axis.
  package static let size = 3
  /// Rows and columns of a tile of the input.
  package static let inputSize = 5
  package static let points = 25
  /// Channels side by side in the sums of few output channels.
  package static let sumChannels = 4
}

/// A row of tiles: `transformed[point][tile][block · blockChannels + c] = (Bᵀ d B)[point / 5][point % 5]`
package struct PieceInputArguments: @unchecked Sendable {
  /// Pixel (0, 0) of the first tile, channel 0.
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var inputBlockStride: Int
  /// The table's `channelBlock`, or 1 for planes.
  package var blockChannels: Int
  package var blocks: Int
  /// What there is of the input from the first pixel on; the rest counts as zero and is not read.
  package var rows: Int
  package var width: Int
  package var tiles: Int
  package var transformed: UnsafeMutablePointer<Float>
  package var tileStride: Int
  package var pointStride: Int

  package init(
    input: UnsafePointer<Float>, inputRowStride: Int, inputBlockStride: Int, blockChannels: Int,
    blocks: Int, rows: Int, width: Int, tiles: Int, transformed: UnsafeMutablePointer<Float>,
    tileStride: Int, pointStride: Int
  ) {
    self.input = input
    self.inputRowStride = inputRowStride
    self.inputBlockStride = inputBlockStride
    self.blockChannels = blockChannels
    self.blocks = blocks
    self.rows = rows
    self.width = width
    self.tiles = tiles
    self.transformed = transformed
    self.tileStride = tileStride
    self.pointStride = pointStride
  }
}

/// A row of tiles: `out = activation(bias + Aᵀ m A)` with
/// `m = products[point][block][tile][channel]`. A residual is not added.
package struct PieceOutputArguments: @unchecked Sendable {
  package var products: UnsafePointer<Float>
  package var productPointStride: Int
  package var productBlockStride: Int
  package var tiles: Int
  /// Pixel (0, 0) of the first tile, channel 0; blocked.
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputBlockStride: Int
  package var outputBlocks: Int
  /// What there is of the output from the first pixel on; the rest is not written.
  package var rows: Int
  package var width: Int
  /// One a channel, padded to whole blocks; nil is zero.
  package var bias: UnsafePointer<Float>?
  package var epilogue: Epilogue

  package init(
    products: UnsafePointer<Float>, productPointStride: Int, productBlockStride: Int, tiles: Int,
    output: UnsafeMutablePointer<Float>, outputRowStride: Int, outputBlockStride: Int,
    outputBlocks: Int, rows: Int, width: Int, bias: UnsafePointer<Float>? = nil,
    epilogue: Epilogue = Epilogue()
  ) {
    self.products = products
    self.productPointStride = productPointStride
    self.productBlockStride = productBlockStride
    self.tiles = tiles
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputBlockStride = outputBlockStride
    self.outputBlocks = outputBlocks
    self.rows = rows
    self.width = width
    self.bias = bias
    self.epilogue = epilogue
  }
}

/// Where there are few output channels, those of all pieces are computed side by side, and added
/// where they belong. For one point and one row of pieces:
///
///     sums[tile][c] (+)= Σ(p < pieces) products[tile + p][p · channels + c]    c < 4
///
/// Lanes from `channels` on hold whatever follows in the products.
package struct PieceSumArguments: @unchecked Sendable {
  /// Of the row's first piece. From each piece's first channel on, four values are read.
  package var products: UnsafePointer<Float>
  package var productTileStride: Int
  package var tiles: Int
  package var pieces: Int
  /// At most 4.
  package var channels: Int
  package var sums: UnsafeMutablePointer<Float>
  /// Whether the sums continue what stands there.
  package var accumulates: Bool

  package init(
    products: UnsafePointer<Float>, productTileStride: Int, tiles: Int, pieces: Int, channels: Int,
    sums: UnsafeMutablePointer<Float>, accumulates: Bool
  ) {
    self.products = products
    self.productTileStride = productTileStride
    self.tiles = tiles
    self.pieces = pieces
    self.channels = channels
    self.sums = sums
    self.accumulates = accumulates
  }
}

/// A row of tiles of few channels: `out[c] = bias[c] + Aᵀ m A` with `m = sums[point][tile][c]`, in
/// planes.
package struct PieceSumOutputArguments: @unchecked Sendable {
  /// Room for a multiple of four tiles a point.
  package var sums: UnsafePointer<Float>
  package var pointStride: Int
  package var tiles: Int
  package var channels: Int
  /// Pixel (0, 0) of the first tile, channel 0.
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputPlaneStride: Int
  /// What there is of the output from the first pixel on; the rest is not written.
  package var rows: Int
  package var width: Int
  /// Four values; nil is zero.
  package var bias: UnsafePointer<Float>?

  package init(
    sums: UnsafePointer<Float>, pointStride: Int, tiles: Int, channels: Int,
    output: UnsafeMutablePointer<Float>, outputRowStride: Int, outputPlaneStride: Int, rows: Int,
    width: Int, bias: UnsafePointer<Float>? = nil
  ) {
    self.sums = sums
    self.pointStride = pointStride
    self.tiles = tiles
    self.channels = channels
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputPlaneStride = outputPlaneStride
    self.rows = rows
    self.width = width
    self.bias = bias
  }
}
