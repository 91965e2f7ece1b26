/// The tiles of a 3 × 3 convolution over an input that has been enlarged by repeating each row and
/// column twice, with a border of one zero.
///
/// Output rows 2i and 2i + 1 see only three rows of the small input, two of them twice:
///
///     out[2i]     = w0 · in[i − 1] + (w1 + w2) · in[i]
///     out[2i + 1] = (w0 + w1) · in[i] + w2 · in[i + 1]
///
/// and so do columns: four phases, each a 2 × 2 convolution at the low resolution, by Winograd's
/// F(5×5, 2×2) with the points and thus the `Bᵀ` of `WinogradTiles`. Tile (ty, tx) has the rows
/// `5ty − 1 … 5ty + 4` of the input, and of phase (py, px) the outputs with
/// `i = 5ty − py … 5ty − py + 4`, so that one transformed tile serves all phases.
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
  /// Of the small input.
  package var rows: Int
  package var width: Int
  /// The tiles of one call.
  package var first: Int
  package var count: Int

  package init(rows: Int, width: Int, first: Int, count: Int) {
    self.rows = rows
    self.width = width
    self.first = first
    self.count = count
  }

  /// Positions of the small input that a tile has outputs for, along each axis.
  package static let size = 5
  package static let points = 36
  package static let phases = 4

  package static func across(_ size: Int) -> Int { size / 5 + 1 }
}

/// `transformed[point][tile][channel] = (Bᵀ d B)[point / 6][point % 6]`
package struct UpsampledInputArguments: @unchecked Sendable {
  package var tiles: UpsampledTiles
  /// Pixel (0, 0), channel 0, of the image; blocked. Outside of the image all is zero and nothing is
  /// read.
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var inputBlockStride: Int
  package var blocks: Int
  package var transformed: UnsafeMutablePointer<Float>
  package var tileStride: Int
  package var pointStride: Int

  package init(
    tiles: UpsampledTiles, input: UnsafePointer<Float>, inputRowStride: Int,
    inputBlockStride: Int, blocks: Int, transformed: UnsafeMutablePointer<Float>, tileStride: Int,
    pointStride: Int
  ) {
    self.tiles = tiles
    self.input = input
    self.inputRowStride = inputRowStride
    self.inputBlockStride = inputBlockStride
    self.blocks = blocks
    self.transformed = transformed
    self.tileStride = tileStride
    self.pointStride = pointStride
  }
}

/// One channel block of one phase: `out = activation(bias + Aᵀ m A)` with
/// `m = products[point][tile][lane]`. A residual is not added.
package struct UpsampledOutputArguments: @unchecked Sendable {
  package var tiles: UpsampledTiles
  package var phaseY: Int
  package var phaseX: Int
  package var products: UnsafePointer<Float>
  package var pointStride: Int
  /// Pixel (0, 0) of the block's plane of the large image.
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  /// Of the block; nil is zero.
  package var bias: UnsafePointer<Float>?
  /// Slopes of the block.
  package var epilogue: Epilogue

  package init(
    tiles: UpsampledTiles, phaseY: Int, phaseX: Int, products: UnsafePointer<Float>,
    pointStride: Int, output: UnsafeMutablePointer<Float>, outputRowStride: Int,
    bias: UnsafePointer<Float>? = nil, epilogue: Epilogue = Epilogue()
  ) {
    self.tiles = tiles
    self.phaseY = phaseY
    self.phaseX = phaseX
    self.products = products
    self.pointStride = pointStride
    self.output = output
    self.outputRowStride = outputRowStride
    self.bias = bias
    self.epilogue = epilogue
  }
}
