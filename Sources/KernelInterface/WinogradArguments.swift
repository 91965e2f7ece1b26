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

/// Floats from one tile's channels to the next one's, and from one point's tiles to the next one's.
package struct PointStrides: Sendable {
  package var tile: Int
  package var point: Int

  package init(tile: Int, point: Int) {
    self.tile = tile
    self.point = point
  }
}

/// Tiles of the input, transformed: `transformed[point][tile][channel] = Bᵀ d B` at the point.
///
/// `tile` counts from the call's first one. The result is the same however tiles and channel blocks
/// are divided among calls.
package struct InputTransformArguments: @unchecked Sendable {
  package var input: UnsafePointer<Float>
  package var inputStrides: Strides
  /// The channel blocks to transform.
  package var blocks: Range<Int>
  /// Of block 0.
  package var transformed: UnsafeMutablePointer<Float>
  package var transformedStrides: PointStrides

  package init(
    input: UnsafePointer<Float>, inputStrides: Strides, blocks: Range<Int>,
    transformed: UnsafeMutablePointer<Float>, transformedStrides: PointStrides
  ) {
    self.input = input
    self.inputStrides = inputStrides
    self.blocks = blocks
    self.transformed = transformed
    self.transformedStrides = transformedStrides
  }
}

/// Panels of transformed weights, from `packWinogradWeights` or `expandWinogradWeights`.
package struct WinogradPanels: @unchecked Sendable {
  /// Of panel 0.
  package var weights: UnsafePointer<Float>
  /// Floats from one point's weights to the next one's; nil if they follow one another.
  package var pointStride: Int?
  /// Input channels, padded to whole blocks.
  package var channels: Int
  /// The panels to compute.
  package var range: Range<Int>
  /// Panels whose products are computed before they are transformed: of more, the transformed input
  /// is read less often, but there are more products to keep.
  package var atOnce: Int

  package init(
    weights: UnsafePointer<Float>, pointStride: Int? = nil, channels: Int, range: Range<Int>,
    atOnce: Int = 1
  ) {
    self.weights = weights
    self.pointStride = pointStride
    self.channels = channels
    self.range = range
    self.atOnce = atOnce
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
  package var transformedStrides: PointStrides
  package var panels: WinogradPanels
  /// Working memory: `points` times `productStride` floats.
  package var products: UnsafeMutablePointer<Float>
  /// At least `panels.atOnce` · tiles · channels of a panel.
  package var productStride: Int
  /// Pixel (0, 0), channel 0, of the first image; blocked.
  package var output: UnsafeMutablePointer<Float>
  package var outputStrides: Strides
  package var outputBlocks: Int
  /// Of the whole output.
  package var epilogue: Epilogue
  package var poolsMaximum = false

  package init(
    tiles: WinogradTiles, transformed: UnsafePointer<Float>, transformedStrides: PointStrides,
    panels: WinogradPanels, products: UnsafeMutablePointer<Float>, productStride: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, outputBlocks: Int,
    epilogue: Epilogue = Epilogue()
  ) {
    self.tiles = tiles
    self.transformed = transformed
    self.transformedStrides = transformedStrides
    self.panels = panels
    self.products = products
    self.productStride = productStride
    self.output = output
    self.outputStrides = outputStrides
    self.outputBlocks = outputBlocks
    self.epilogue = epilogue
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
