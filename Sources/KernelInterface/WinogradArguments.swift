/// The tiles of a convolution with stride 1 by Winograd's algorithm, numbered row by row over all
/// images.
///
/// The last row and column of tiles may reach beyond the output: the input there counts as zero and
/// is not read, the output is not written.
public struct WinogradTiles: Sendable {
  public var form: WinogradForm
  /// Of the output of one image.
  public var rows: Int
  public var width: Int
  /// The tiles of one call.
  public var first: Int
  public var count: Int

  public init(form: WinogradForm, rows: Int, width: Int, first: Int, count: Int) {
    self.form = form
    self.rows = rows
    self.width = width
    self.first = first
    self.count = count
  }

  public static func perImage(form: WinogradForm, rows: Int, width: Int) -> Int {
    form.vertical.tiles(of: rows) * form.horizontal.tiles(of: width)
  }
}

/// `transformed[point][tile][channel] = (Bᵀ d B)[point / n][point % n]`, n being the points of the
/// horizontal axis.
///
/// `tile` counts from the call's first one. The result is the same however tiles and channel blocks
/// are divided among calls.
public struct WinogradInputArguments: @unchecked Sendable {
  public var tiles: WinogradTiles
  /// Tap (0, 0) of output pixel (0, 0), channel 0, of the first image; blocked. What the taps of the
  /// output need is read: of r taps along an axis r − 1 values more than there are outputs.
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

/// Weights as they stand in a file → panels for `winogradOutput`.
///
///     packed[panel][point][c][column] = scale[o] · (G g Gᵀ)[point / n][point % n]
///
/// with `o = panel · panelWidth + column` and `g[ky][kx] = source[o · outputStride
/// + c · inputStride + ky · rowStride + kx · columnStride]`, computed in double precision and
/// rounded once. Channels beyond the counts become zeros, up to whole blocks; the last panel is as
/// narrow as what is left.
public struct WinogradPackingArguments: @unchecked Sendable {
  /// Of the tiles for which the weights are.
  public var form: WinogradForm
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
    form: WinogradForm, source: UnsafeRawPointer, outputStride: Int, inputStride: Int,
    rowStride: Int,
    columnStride: Int, outputChannels: Int, inputChannels: Int, scale: UnsafePointer<Float>? = nil,
    firstPanel: Int, panelCount: Int, packed: UnsafeMutablePointer<Float>
  ) {
    self.form = form
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

/// Codes of one panel of kernels → weights for `winogradOutput`, all in single precision:
///
///     packed[point · pointStride + c · width + column] = (G g Gᵀ)[point / n][point % n]
///
/// where `g[ky][kx]` is the value of `codes[((c · R + ky) · S + kx) · width + column]` of kernels of
/// R × S taps; zero for the channels behind `inputChannels`.
public struct WinogradExpansionArguments: @unchecked Sendable {
  /// Of the tiles for which the weights are.
  public var form: WinogradForm
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
    form: WinogradForm, codes: UnsafePointer<UInt8>, values: PanelValues, inputChannels: Int,
    channels: Int, width: Int, packed: UnsafeMutablePointer<Float>, pointStride: Int
  ) {
    self.form = form
    self.codes = codes
    self.values = values
    self.inputChannels = inputChannels
    self.channels = channels
    self.width = width
    self.packed = packed
    self.pointStride = pointStride
  }
}
