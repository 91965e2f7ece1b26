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
    (self.form, self.rows, self.width, self.first, self.count) = (form, rows, width, first, count)
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

  package init(tile: Int, point: Int) { (self.tile, self.point) = (tile, point) }
}

/// Products or weights by point.
package struct PointBuffer: @unchecked Sendable {
  package var base: UnsafeMutablePointer<Float>
  /// Distance in floats from one point to the next.
  package var stride: Int

  package init(_ base: UnsafeMutablePointer<Float>, stride: Int) {
    (self.base, self.stride) = (base, stride)
  }
}

/// Tiles transformed by `winogradInput`.
package struct TransformedTiles: @unchecked Sendable {
  package var tiles: WinogradTiles
  package var base: UnsafePointer<Float>
  package var strides: PointStrides

  package init(_ tiles: WinogradTiles, _ base: UnsafePointer<Float>, _ strides: PointStrides) {
    (self.tiles, self.base, self.strides) = (tiles, base, strides)
  }
}

/// Transformed input tiles: `transformed[point][tile][channel] = Bᵀ d B` at the point.
///
/// `tile` counts from the call's first one. The result does not depend on how tiles and channel
/// blocks are divided among calls.
package struct InputTransformArguments: @unchecked Sendable {
  package var input: InputView
  /// The channel blocks to transform.
  package var blocks: Range<Int>
  /// Start of block 0.
  package var transformed: UnsafeMutablePointer<Float>
  package var transformedStrides: PointStrides

  package init(
    input: InputView, blocks: Range<Int>, transformed: UnsafeMutablePointer<Float>,
    transformedStrides: PointStrides
  ) {
    (self.input, self.blocks, self.transformed) = (input, blocks, transformed)
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
    (self.weights, self.pointStride, self.channels) = (weights, pointStride, channels)
    (self.range, self.atOnce) = (range, atOnce)
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
  package var transformed: TransformedTiles
  package var panels: WinogradPanels
  /// Working memory; for each point at least `panels.atOnce` · tiles · channels of a panel.
  package var products: PointBuffer
  /// Pixel (0, 0), channel 0, of the first image; blocked.
  package var output: OutputView
  package var outputBlocks: Int
  /// The epilogue for the whole output.
  package var epilogue = Epilogue()
  package var poolsMaximum = false

  package init(
    transformed: TransformedTiles, panels: WinogradPanels, products: PointBuffer,
    output: OutputView, outputBlocks: Int
  ) {
    (self.transformed, self.panels, self.products) = (transformed, panels, products)
    (self.output, self.outputBlocks) = (output, outputBlocks)
  }
}

/// The values of a panel's codes, with some parameters per column.
package enum PanelValues: @unchecked Sendable {
  // `@unchecked`: nothing is written through the pointers.
  /// `scale[column] · code + bias[column]`
  case linear(scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)
  /// The same, rounded to half precision.
  case halves(scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)
  /// `table[code]`, with a table of 256 values.
  case table(UnsafePointer<Float>)
}

/// The codes of one panel of kernels.
package struct CodePanel: @unchecked Sendable {
  /// One byte per code, starting with the panel's first.
  package var codes: UnsafePointer<UInt8>
  package var values: PanelValues
  /// A factor of the values per column; nil means 1.
  package var factor: UnsafePointer<Float>?
  /// Weights of channels beyond these are zeros.
  package var inputChannels: Int
  /// Columns of the panel: output channels, padded to whole blocks.
  package var width: Int

  package init(
    codes: UnsafePointer<UInt8>, values: PanelValues, factor: UnsafePointer<Float>?,
    inputChannels: Int, width: Int
  ) {
    (self.codes, self.values, self.factor) = (codes, values, factor)
    (self.inputChannels, self.width) = (inputChannels, width)
  }
}

/// Expands codes of one panel of kernels to weights for `winogradOutput`, in single precision:
///
///     packed[point · stride + c · width + column] = (G g Gᵀ)[point / n][point % n]
///
/// where `g[ky][kx]` is the value of `codes[((c · R + ky) · S + kx) · width + column]`
/// for kernels of R × S taps. Channels after `inputChannels` become zero.
package struct WinogradExpansionArguments: @unchecked Sendable {
  /// The form of the tiles that use the weights.
  package var form: WinogradForm
  package var panel: CodePanel
  /// The number of channels, padded to whole blocks.
  package var channels: Int
  /// The panel's start.
  package var packed: PointBuffer

  package init(form: WinogradForm, panel: CodePanel, channels: Int, packed: PointBuffer) {
    (self.form, self.panel, self.channels, self.packed) = (form, panel, channels, packed)
  }
}
