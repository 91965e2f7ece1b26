import Kernels

/// The right factor of a matrix product, packed while a step runs: columns in panels, like the
/// weights of a 1 × 1 convolution.
struct PanelFactor: Sendable {
  let depth: Int
  let columns: Int
  /// The number of columns, padded to whole blocks.
  let width: Int
  private let run: Int
  private let kernels: any KernelTable.Type

  init(depth: Int, columns: Int, _ kernels: any KernelTable.Type) {
    let block = kernels.channelBlock
    (self.depth, self.columns, self.kernels) = (depth, columns, kernels)
    width = (columns + block - 1) / block * block
    run = kernels.runLength(of: depth)
  }

  var floats: Int { depth * width }

  /// Packs `scale` times the matrix whose element (k, c) is at `k · row + c · column`.
  func pack(
    _ source: UnsafePointer<Float>, row: Int, column: Int, scale: Float,
    to packed: UnsafeMutablePointer<Float>
  ) {
    let panelWidth = kernels.panelBlocks * kernels.channelBlock
    var layout = WeightLayout(outputChannels: columns, inputChannels: depth)
    (layout.outputStride, layout.inputStride) = (column, row)
    kernels.packConvolutionWeights(
      PackingArguments(
        source: source, layout: layout,
        panels: 0..<(width + panelWidth - 1) / panelWidth, packed: packed),
      blockChannels: run, panelBlocks: kernels.panelBlocks)
    if scale == 1 { return }
    kernels.unary(
      UnaryArguments(
        function: .linear, input: packed, output: packed, count: floats, .init(alpha: scale)))
  }

  /// `rows · factor`: `width` columns or, with room for `count` rows of `width` in `strip`, `columns`
  /// columns alone. The rows of both matrices are pixels.
  func multiply(
    _ rows: InputView, count: Int, by packed: UnsafePointer<Float>, to output: OutputView,
    strip: UnsafeMutablePointer<Float>? = nil
  ) {
    if let strip, width > columns {
      let (stride, strides) = (output.strides.pixel, Strides(pixel: width))
      multiply(rows, count: count, by: packed, to: OutputView(strip, strides))
      for row in 0..<count {
        (output.base + row * stride).update(from: strip + row * width, count: columns)
      }
      return
    }
    var arguments = ConvolutionArguments(
      input: rows, weights: packed, output: output,
      extent: Extent(blocks: width / kernels.channelBlock, rows: 1, width: count))
    arguments.input.strides.block = run
    arguments.inputBlocks = depth / run
    arguments.blockChannels = run
    arguments.output.strides.block = kernels.channelBlock
    kernels.convolution(arguments)
  }
}

extension KernelTable {
  /// The number of terms that a tile sums in one loop: many, but few enough for short partial sums,
  /// and whole blocks if possible.
  static func runLength(of depth: Int) -> Int {
    (1...128 / channelBlock).reversed().map { $0 * channelBlock }.first { depth % $0 == 0 } ?? depth
  }

  /// Rows of a product to compute at a time: full tiles, but a result that stays in the cache.
  static var productBand: Int { 48 / pixelTile * pixelTile }
}
