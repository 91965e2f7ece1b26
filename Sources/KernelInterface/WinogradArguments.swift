/// The tiles of a 3 × 3 convolution with stride 1 by Winograd's F(m×m, 3×3), m being 2, 4 or 6.
///
/// For a tile `d` of (m + 2) × (m + 2) inputs and a kernel `g`, the m × m tile of the output is
///
///     Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A
///
/// F(2×2, 3×3) has the points 0, 1, −1 and ∞:
///
///          ⎡ −1   0   1   0 ⎤       ⎡  −1    0    0  ⎤
///     Bᵀ = ⎢  0   1   1   0 ⎥   G = ⎢ 1/2   1/2  1/2 ⎥  Aᵀ = ⎡ 1  1   1  0 ⎤
///          ⎢  0  −1   1   0 ⎥       ⎢ 1/2  −1/2  1/2 ⎥       ⎣ 0  1  −1  1 ⎦
///          ⎣  0  −1   0   1 ⎦       ⎣   0    0    1  ⎦
///
/// F(4×4, 3×3) has the points 0, 1, −1, ½, −2 and ∞:
///
///          ⎡ 1  −3/2   −2   3/2   1   0 ⎤       ⎡    1      0     0   ⎤
///          ⎢ 0    −1   1/2  5/2   1   0 ⎥       ⎢   1/3    1/3   1/3  ⎥       ⎡ 1  1   1   1    1  0 ⎤
///     Bᵀ = ⎢ 0     1  −5/2  1/2   1   0 ⎥   G = ⎢  −1/3    1/3  −1/3  ⎥  Aᵀ = ⎢ 0  1  −1  1/2  −2  0 ⎥
///          ⎢ 0    −2   −1    2    1   0 ⎥       ⎢ −16/15  −8/15 −4/15 ⎥       ⎢ 0  1   1  1/4   4  0 ⎥
///          ⎢ 0   1/2   −1  −1/2   1   0 ⎥       ⎢  1/15   −2/15  4/15 ⎥       ⎣ 0  1  −1  1/8  −8  1 ⎦
///          ⎣ 0     1  −3/2  −2   3/2  1 ⎦       ⎣    0      0     1   ⎦
///
/// F(6×6, 3×3) has the points 0, ±1, ±2, ±½ and ∞; rows that differ in signs only stand together:
///
///          ⎡ −1    0   21/4    0    −21/4   0   1  0 ⎤       ⎡  −1      0      0   ⎤
///          ⎢  0   ±1     1   ∓17/4  −17/4  ±1   1  0 ⎥       ⎢ −2/9   ∓2/9   −2/9  ⎥
///     Bᵀ = ⎢  0  ±1/2   1/4  ∓5/2   −5/4   ±2   1  0 ⎥   G = ⎢ 1/90   ±1/45   2/45 ⎥
///          ⎢  0   ±2     4   ∓5/2    −5   ±1/2  1  0 ⎥       ⎢ 32/45 ±16/45   8/45 ⎥
///          ⎣  0   −1     0   21/4     0  −21/4  0  1 ⎦       ⎣   0      0      1   ⎦
///
/// and Aᵀ[k] = (0ᵏ, 1, (−1)ᵏ, 2ᵏ, (−2)ᵏ, (½)ᵏ, (−½)ᵏ, k = 5).
///
/// Tiles are numbered row by row over all images. The last row and column of tiles may reach beyond
/// the output: the input there counts as zero and is not read, the output is not written.
public struct WinogradTiles: Sendable {
  /// Output rows and columns of a tile: 2, 4 or 6.
  public var size: Int
  /// Of the output of one image.
  public var rows: Int
  public var width: Int
  /// The tiles of one call.
  public var first: Int
  public var count: Int

  public init(size: Int, rows: Int, width: Int, first: Int, count: Int) {
    self.size = size
    self.rows = rows
    self.width = width
    self.first = first
    self.count = count
  }

  /// Products a tile, and so matrices of transformed weights.
  public static func points(size: Int) -> Int { (size + 2) * (size + 2) }

  public static func perImage(size: Int, rows: Int, width: Int) -> Int {
    ((rows + size - 1) / size) * ((width + size - 1) / size)
  }
}

/// `transformed[point][tile][channel] = (Bᵀ d B)[point / (m + 2)][point % (m + 2)]`
///
/// `tile` counts from the call's first one. The result is the same however tiles and channel blocks
/// are divided among calls.
public struct WinogradInputArguments: @unchecked Sendable {
  public var tiles: WinogradTiles
  /// Tap (0, 0) of output pixel (0, 0), channel 0, of the first image; blocked. The rows and columns
  /// `0 ..< rows + 2` and `0 ..< width + 2` are read.
  public var input: UnsafePointer<Float>
  public var inputRowStride: Int
  public var inputBlockStride: Int
  public var inputImageStride: Int
  public var firstBlock: Int
  public var blocks: Int
  public var transformed: UnsafeMutablePointer<Float>
  public var tileStride: Int
  public var pointStride: Int

  public init(
    tiles: WinogradTiles, input: UnsafePointer<Float>, inputRowStride: Int, inputBlockStride: Int,
    inputImageStride: Int, firstBlock: Int = 0, blocks: Int,
    transformed: UnsafeMutablePointer<Float>, tileStride: Int, pointStride: Int
  ) {
    self.tiles = tiles
    self.input = input
    self.inputRowStride = inputRowStride
    self.inputBlockStride = inputBlockStride
    self.inputImageStride = inputImageStride
    self.firstBlock = firstBlock
    self.blocks = blocks
    self.transformed = transformed
    self.tileStride = tileStride
    self.pointStride = pointStride
  }
}

/// Transformed input → output, for some panels of output channels.
///
///     m[point][tile][o] = Σ(c) transformed[point][tile][c] · weights[panel][point][c][o]
///     out = activation(bias + Aᵀ m A + residual)
///
/// Where `poolsMaximum` is set, the output is the largest of each 2 × 2 of these, rows and columns
/// being even.
public struct WinogradOutputArguments: @unchecked Sendable {
  public var tiles: WinogradTiles
  /// From `winogradInput`, for the same tiles.
  public var transformed: UnsafePointer<Float>
  public var tileStride: Int
  public var pointStride: Int
  /// Input channels, padded to whole blocks.
  public var channels: Int
  /// Of panel 0, from `packWinogradWeights` or `expandWinogradWeights`.
  public var weights: UnsafePointer<Float>
  /// Floats from one point's weights to the next one's; nil where they follow one another.
  public var weightPointStride: Int?
  public var firstPanel: Int
  public var panelCount: Int
  /// Panels whose products are computed before they are transformed: of more, the transformed input
  /// is read less often, but there are more products to keep.
  public var panelsAtOnce: Int
  /// Working memory: `points` times `productStride` floats.
  public var products: UnsafeMutablePointer<Float>
  /// At least `panelsAtOnce` · tiles · channels of a panel.
  public var productStride: Int
  /// Pixel (0, 0), channel 0, of the first image; blocked.
  public var output: UnsafeMutablePointer<Float>
  public var outputRowStride: Int
  public var outputBlockStride: Int
  public var outputImageStride: Int
  public var outputBlocks: Int
  /// One a channel, padded to whole blocks; nil is zero.
  public var bias: UnsafePointer<Float>?
  /// Residual and slopes of the whole output.
  public var epilogue: Epilogue
  public var residualImageStride: Int
  public var poolsMaximum: Bool

  public init(
    tiles: WinogradTiles, transformed: UnsafePointer<Float>, tileStride: Int, pointStride: Int,
    channels: Int, weights: UnsafePointer<Float>, weightPointStride: Int? = nil,
    firstPanel: Int = 0, panelCount: Int, panelsAtOnce: Int = 1,
    products: UnsafeMutablePointer<Float>, productStride: Int,
    output: UnsafeMutablePointer<Float>, outputRowStride: Int, outputBlockStride: Int,
    outputImageStride: Int, outputBlocks: Int, bias: UnsafePointer<Float>? = nil,
    epilogue: Epilogue = Epilogue(), residualImageStride: Int = 0, poolsMaximum: Bool = false
  ) {
    self.tiles = tiles
    self.transformed = transformed
    self.tileStride = tileStride
    self.pointStride = pointStride
    self.channels = channels
    self.weights = weights
    self.weightPointStride = weightPointStride
    self.firstPanel = firstPanel
    self.panelCount = panelCount
    self.panelsAtOnce = panelsAtOnce
    self.products = products
    self.productStride = productStride
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputBlockStride = outputBlockStride
    self.outputImageStride = outputImageStride
    self.outputBlocks = outputBlocks
    self.bias = bias
    self.epilogue = epilogue
    self.residualImageStride = residualImageStride
    self.poolsMaximum = poolsMaximum
  }
}

/// 3 × 3 weights as they stand in a file → panels for `winogradOutput`.
///
///     packed[panel][point][c][column] = scale[o] · (G g Gᵀ)[point / (m + 2)][point % (m + 2)]
///
/// with `o = panel · panelWidth + column` and `g[ky][kx] = source[o · outputStride
/// + c · inputStride + ky · rowStride + kx · columnStride]`, computed in double precision and
/// rounded once. Channels beyond the counts become zeros, up to whole blocks; the last panel is as
/// narrow as what is left.
public struct WinogradPackingArguments: @unchecked Sendable {
  /// Of the tiles for which the weights are.
  public var size: Int
  /// Possibly unaligned.
  public var source: UnsafeRawPointer
  public var outputStride: Int
  public var inputStride: Int
  public var rowStride: Int
  public var columnStride: Int
  public var outputChannels: Int
  public var inputChannels: Int
  /// One an output channel; nil is one.
  public var scale: UnsafePointer<Float>?
  public var firstPanel: Int
  public var panelCount: Int
  /// Of panel 0.
  public var packed: UnsafeMutablePointer<Float>

  public init(
    size: Int, source: UnsafeRawPointer, outputStride: Int, inputStride: Int, rowStride: Int,
    columnStride: Int, outputChannels: Int, inputChannels: Int, scale: UnsafePointer<Float>? = nil,
    firstPanel: Int, panelCount: Int, packed: UnsafeMutablePointer<Float>
  ) {
    self.size = size
    self.source = source
    self.outputStride = outputStride
    self.inputStride = inputStride
    self.rowStride = rowStride
    self.columnStride = columnStride
    self.outputChannels = outputChannels
    self.inputChannels = inputChannels
    self.scale = scale
    self.firstPanel = firstPanel
    self.panelCount = panelCount
    self.packed = packed
  }
}

/// What the codes of a panel stand for; a value for each column where it says so.
public enum PanelValues: @unchecked Sendable {
  // `@unchecked`: nothing is written through the pointers.
  /// `scale[column] · code + bias[column]`
  case linear(scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)
  /// `scale[column] · table[code]`, of 256 values; no scale is one.
  case table(UnsafePointer<Float>, scale: UnsafePointer<Float>?)
}

/// Codes of one panel of 3 × 3 kernels → weights for `winogradOutput`, all in single precision:
///
///     packed[point · pointStride + c · width + column] = (G g Gᵀ)[point / (m + 2)][point % (m + 2)]
///
/// where `g[ky][kx]` is the value of `codes[(9 · c + 3 · ky + kx) · width + column]`; zero for the
/// channels behind `inputChannels`.
public struct WinogradExpansionArguments: @unchecked Sendable {
  /// Of the tiles for which the weights are.
  public var size: Int
  /// A byte each, the panel's first.
  public var codes: UnsafePointer<UInt8>
  public var values: PanelValues
  public var inputChannels: Int
  /// Padded to whole blocks.
  public var channels: Int
  /// Columns of the panel: output channels, padded to whole blocks.
  public var width: Int
  /// The panel's start.
  public var packed: UnsafeMutablePointer<Float>
  public var pointStride: Int

  public init(
    size: Int, codes: UnsafePointer<UInt8>, values: PanelValues, inputChannels: Int, channels: Int,
    width: Int, packed: UnsafeMutablePointer<Float>, pointStride: Int
  ) {
    self.size = size
    self.codes = codes
    self.values = values
    self.inputChannels = inputChannels
    self.channels = channels
    self.width = width
    self.packed = packed
    self.pointStride = pointStride
  }
}
