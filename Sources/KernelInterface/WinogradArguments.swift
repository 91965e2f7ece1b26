/// The tiles of a convolution with stride 1 by Winograd's algorithm, numbered row by row over all
/// images.
///
/// The last row and column of tiles may reach beyond the output: the input there counts as zero and
/// is not read, the output is not written.
package struct WinogradTiles: Sendable {
  package var form: WinogradForm
  /// Of the output of one image.
  package var rows: Int
  package var width: Int
  /// The tiles of one call.
  package var first: Int
  package var count: Int

  package init(form: WinogradForm, rows: Int, width: Int, first: Int, count: Int) {
    self.form = form
    self.rows = rows
    self.width = width
    self.first = first
    self.count = count
  }

  package static func perImage(form: WinogradForm, rows: Int, width: Int) -> Int {
    form.vertical.tiles(of: rows) * form.horizontal.tiles(of: width)
  }
}

/// `transformed[point][tile][channel] = (Bᵀ d B)[point / n][point % n]`, n being the points of the
/// horizontal axis.
///
/// `tile` counts from the call's first one. The result is the same however tiles and channel blocks
/// are divided among calls.
package struct WinogradInputArguments: @unchecked Sendable {
  package var tiles: WinogradTiles
  /// Tap (0, 0) of output pixel (0, 0), channel 0, of the first image; blocked. What the taps of the
  /// output need is read: of r taps along an axis r − 1 values more than there are outputs.
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var inputBlockStride: Int
  package var inputImageStride: Int
  package var firstBlock: Int
  package var blocks: Int
  package var transformed: UnsafeMutablePointer<Float>
  package var tileStride: Int
  package var pointStride: Int

  package init(
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
package struct WinogradOutputArguments: @unchecked Sendable {
  package var tiles: WinogradTiles
  /// From `winogradInput`, for the same tiles.
  package var transformed: UnsafePointer<Float>
  package var tileStride: Int
  package var pointStride: Int
  /// Input channels, padded to whole blocks.
  package var channels: Int
  /// Of panel 0, from `packWinogradWeights` or `expandWinogradWeights`.
  package var weights: UnsafePointer<Float>
  /// Floats from one point's weights to the next one's; nil where they follow one another.
  package var weightPointStride: Int?
  package var firstPanel: Int
  package var panelCount: Int
  /// Panels whose products are computed before they are transformed: of more, the transformed input
  /// is read less often, but there are more products to keep.
  package var panelsAtOnce: Int
  /// Working memory: `points` times `productStride` floats.
  package var products: UnsafeMutablePointer<Float>
  /// At least `panelsAtOnce` · tiles · channels of a panel.
  package var productStride: Int
  /// Pixel (0, 0), channel 0, of the first image; blocked.
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputBlockStride: Int
  package var outputImageStride: Int
  package var outputBlocks: Int
  /// One a channel, padded to whole blocks; nil is zero.
  package var bias: UnsafePointer<Float>?
  /// Residual and slopes of the whole output.
  package var epilogue: Epilogue
  package var residualImageStride: Int
  package var poolsMaximum: Bool

  package init(
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
package struct WinogradPackingArguments: @unchecked Sendable {
  /// Of the tiles for which the weights are.
  package var form: WinogradForm
  /// Possibly unaligned.
  package var source: UnsafeRawPointer
  package var outputStride: Int
  package var inputStride: Int
  package var rowStride: Int
  package var columnStride: Int
  package var outputChannels: Int
  package var inputChannels: Int
  /// One an output channel; nil is one.
  package var scale: UnsafePointer<Float>?
  package var firstPanel: Int
  package var panelCount: Int
  /// Of panel 0.
  package var packed: UnsafeMutablePointer<Float>

  package init(
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
package enum PanelValues: @unchecked Sendable {
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
package struct WinogradExpansionArguments: @unchecked Sendable {
  /// Of the tiles for which the weights are.
  package var form: WinogradForm
  /// A byte each, the panel's first.
  package var codes: UnsafePointer<UInt8>
  package var values: PanelValues
  package var inputChannels: Int
  /// Padded to whole blocks.
  package var channels: Int
  /// Columns of the panel: output channels, padded to whole blocks.
  package var width: Int
  /// The panel's start.
  package var packed: UnsafeMutablePointer<Float>
  package var pointStride: Int

  package init(
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
