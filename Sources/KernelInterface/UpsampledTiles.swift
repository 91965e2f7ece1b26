/// The tiles of a 3 × 3 convolution over an input that was enlarged by repeating each row and
/// column twice, with a border of one zero.
///
/// Output rows 2i and 2i + 1 depend on only three rows of the small input. For each of the two, two
/// taps read the same row:
///
///     out[2i]     = w0 · in[i − 1] + (w1 + w2) · in[i]
///     out[2i + 1] = (w0 + w1) · in[i] + w2 · in[i + 1]
///
/// The same holds for columns. This gives four phases, each a 2 × 2 convolution at the low
/// resolution, computed by Winograd's F(5×5, 2×2) with the points and thus the `Bᵀ` of
/// `WinogradTiles`. Tile (ty, tx) consists of rows `5ty − 1 … 5ty + 4` of the input and, for
/// phase (py, px), the outputs with `i = 5ty − py … 5ty − py + 4`, so one transformed
/// tile serves all phases.
///
///         ⎡    1      0   ⎤
///         ⎢   1/3    1/3  ⎥       ⎡ 1  1   1   1    1   0 ⎤
///     G = ⎢  −1/3    1/3  ⎥       ⎢ 0  1  −1  1/2  −2   0 ⎥
///         ⎢ −16/15  −8/15 ⎥  Aᵀ = ⎢ 0  1   1  1/4   4   0 ⎥
///         ⎢  1/15   −2/15 ⎥       ⎢ 0  1  −1  1/8  −8   0 ⎥
///         ⎣    0      1   ⎦       ⎣ 0  1   1  1/16  16  1 ⎦
///
/// Tiles are numbered row by row within one image.
package struct UpsampledTiles: Sendable {
  /// Rows of the small input.
  package var rows: Int
  package var width: Int
  /// The tiles of one call.
  package var first: Int
  package var count: Int

  package init(rows: Int, width: Int, first: Int, count: Int) {
    (self.rows, self.width, self.first, self.count) = (rows, width, first, count)
  }

  package static let points = 36
  package static let phases = 4

  package static func across(_ size: Int) -> Int { size / 5 + 1 }
}

/// One channel block of one phase: `out = activation(bias + Aᵀ m A)` with
/// `m = products[point][tile][lane]`. The residual is ignored.
package struct UpsampledOutput: @unchecked Sendable {
  package var tiles: UpsampledTiles
  /// `2 py + px`
  package var phase: Int
  package var products: PointBuffer
  /// Pixel (0, 0) of the block's plane of the large image.
  package var output: OutputView
  /// The epilogue for this block.
  package var epilogue: Epilogue

  package init(
    tiles: UpsampledTiles, phase: Int, products: PointBuffer, output: OutputView,
    epilogue: Epilogue
  ) {
    (self.tiles, self.phase, self.products, self.output) = (tiles, phase, products, output)
    self.epilogue = epilogue
  }
}
