/// The tiles of a convolution with stride 1 by Winograd's algorithm, numbered row by row over all
/// images.
///
/// The last row and column of tiles may extend beyond the output. There, the input counts as zero
/// and is not read, and the output is not written.
package struct WinogradTiles: Sendable {
  package var form: WinogradForm
  /// Output rows of one image.
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

/// Distances in floats from one tile's channels to the next tile's, and from one point's tiles to
/// the next point's.
package struct PointStrides: Sendable {
  package var tile: Int
  package var point: Int

  package init(tile: Int, point: Int) {
    self.tile = tile
    self.point = point
  }
}

/// Transformed input tiles: `transformed[point][tile][channel] = Bᵀ d B` at the point.
///
/// `tile` counts from the call's first one. The result does not depend on how tiles and channel
/// blocks are divided among calls.
package struct InputTransformArguments: @unchecked Sendable {
  package var input: UnsafePointer<Float>
  package var inputStrides: Strides
  /// The channel blocks to transform.
  package var blocks: Range<Int>
  /// Start of block 0.
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
  /// Start of panel 0.
  package var weights: UnsafePointer<Float>
  /// Distance in floats from one point's weights to the next point's; nil if they are contiguous.
  package var pointStride: Int?
  /// Input channels, padded to whole blocks.
  package var channels: Int
  /// The panels to compute.
  package var range: Range<Int>
  /// Number of panels whose products are computed before they are transformed. With more panels,
  /// the transformed input is read less often, but more products must be kept.
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

/// Computes the output for some panels of output channels from the transformed input.
///
///     m[point][tile][o] = Σ(c) transformed[point][tile][c] · weights[panel][point][c][o]
///     out = activation(bias + Aᵀ m A + residual)
///
/// If `poolsMaximum` is set, the output is the maximum of each 2 × 2 of these values; rows and
/// columns must be even.
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
  /// The epilogue for the whole output.
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

/// The values of a panel's codes; some have one entry per column.
package enum PanelValues: @unchecked Sendable {
  // `@unchecked`: nothing is written through the pointers.
  /// `scale[column] · code + bias[column]`
  case linear(scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)
  /// `scale[column] · table[code]`, with 256 table values; nil as scale is one.
  case table(UnsafePointer<Float>, scale: UnsafePointer<Float>?)
}

/// Expands codes of one panel of kernels to weights for `winogradOutput`, in single precision:
///
///     packed[point · pointStride + c · width + column] = (G g Gᵀ)[point / n][point % n]
///
/// where `g[ky][kx]` is the value of `codes[((c · R + ky) · S + kx) · width + column]`
/// for kernels of R × S taps. Channels after `inputChannels` become zero.
package struct WinogradExpansionArguments: @unchecked Sendable {
  /// The form of the tiles that use the weights.
  package var form: WinogradForm
  /// One byte per code, starting with the panel's first.
  package var codes: UnsafePointer<UInt8>
  package var values: PanelValues
  package var inputChannels: Int
  /// The number of channels, padded to whole blocks.
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
