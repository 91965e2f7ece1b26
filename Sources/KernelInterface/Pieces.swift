/// The tiles of a convolution with stride 1 whose kernel is divided into pieces of 3 × 3 taps, by
/// Winograd's F(3×3, 3×3).
///
/// Pieces are 3 taps apart and tiles of the output 3 pixels apart, so one transformed 5 × 5 tile
/// `d` of the input serves all pieces `g`:
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
/// The sum over channels and pieces, for each of the 25 points, is an ordinary convolution over
/// tiles.
package enum Pieces {
  package static let points = 25
  /// Channels per tile in the sums for few output channels.
  package static let sumChannels = 4
}

/// A row of tiles: `out = activation(bias + Aᵀ m A)`. The residual is ignored.
package struct PieceOutput: @unchecked Sendable {
  package var products: PointBuffer
  /// Distance in floats from one block's products to the next one's.
  package var blockStride = 0
  package var tiles: Int
  /// Pixel (0, 0) of the first tile, channel 0.
  package var output: OutputView
  /// Size of the output from that pixel on; nothing beyond is written.
  package var extent: Extent
  package var epilogue = Epilogue()

  package init(products: PointBuffer, tiles: Int, output: OutputView, extent: Extent) {
    (self.products, self.tiles, self.output, self.extent) = (products, tiles, output, extent)
  }
}

/// For few output channels, the products of all pieces are computed next to each other and then
/// added. For one point and one row of pieces:
///
///     sums[tile][c] (+)= Σ(p < pieces) products[tile + p][p · channels + c]    c < 4
///
/// Lanes from `channels` on contain whatever follows in the products.
package struct PieceSums: @unchecked Sendable {
  /// Products of the row's first piece, with a pixel for each tile. Four values are read from each
  /// piece's first channel on.
  package var products: InputView
  /// At most 4.
  package var channels: Int
  package var tiles: Int
  package var pieces: Int
  package var sums: UnsafeMutablePointer<Float>
  /// Whether to add to the existing sums.
  package var accumulates = false

  package init(
    products: InputView, channels: Int, tiles: Int, pieces: Int, sums: UnsafeMutablePointer<Float>
  ) {
    (self.products, self.channels, self.tiles, self.pieces) = (products, channels, tiles, pieces)
    self.sums = sums
  }
}
