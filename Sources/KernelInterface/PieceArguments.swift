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
public enum Pieces {
  /// Taps of a piece and output pixels of a tile, along each axis.
  public static let size = 3
  /// Rows and columns of a tile of the input.
  public static let inputSize = 5
  public static let points = 25
  /// Channels side by side in the sums of few output channels.
  public static let sumChannels = 4
}

/// A row of tiles: `transformed[point][tile][block · blockChannels + c] = (Bᵀ d B)[point / 5][point % 5]`
public struct PieceInputArguments: @unchecked Sendable {
  /// Pixel (0, 0) of the first tile, channel 0.
  public var input: UnsafePointer<Float>
  public var inputRowStride: Int
  public var inputBlockStride: Int
  /// The table's `channelBlock`, or 1 for planes.
  public var blockChannels: Int
  public var blocks: Int
  /// What there is of the input from the first pixel on; the rest counts as zero and is not read.
  public var rows: Int
  public var width: Int
  public var tiles: Int
  public var transformed: UnsafeMutablePointer<Float>
  public var tileStride: Int
  public var pointStride: Int

  public init(
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
public struct PieceOutputArguments: @unchecked Sendable {
  public var products: UnsafePointer<Float>
  public var productPointStride: Int
  public var productBlockStride: Int
  public var tiles: Int
  /// Pixel (0, 0) of the first tile, channel 0; blocked.
  public var output: UnsafeMutablePointer<Float>
  public var outputRowStride: Int
  public var outputBlockStride: Int
  public var outputBlocks: Int
  /// What there is of the output from the first pixel on; the rest is not written.
  public var rows: Int
  public var width: Int
  /// One a channel, padded to whole blocks; nil is zero.
  public var bias: UnsafePointer<Float>?
  public var epilogue: Epilogue

  public init(
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
public struct PieceSumArguments: @unchecked Sendable {
  /// Of the row's first piece. From each piece's first channel on, four values are read.
  public var products: UnsafePointer<Float>
  public var productTileStride: Int
  public var tiles: Int
  public var pieces: Int
  /// At most 4.
  public var channels: Int
  public var sums: UnsafeMutablePointer<Float>
  /// Whether the sums continue what stands there.
  public var accumulates: Bool

  public init(
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
public struct PieceSumOutputArguments: @unchecked Sendable {
  /// Room for a multiple of four tiles a point.
  public var sums: UnsafePointer<Float>
  public var pointStride: Int
  public var tiles: Int
  public var channels: Int
  /// Pixel (0, 0) of the first tile, channel 0.
  public var output: UnsafeMutablePointer<Float>
  public var outputRowStride: Int
  public var outputPlaneStride: Int
  /// What there is of the output from the first pixel on; the rest is not written.
  public var rows: Int
  public var width: Int
  /// Four values; nil is zero.
  public var bias: UnsafePointer<Float>?

  public init(
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
