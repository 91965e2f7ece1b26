import Kernels

/// The right factor of a matrix product that is packed while a step runs: columns in panels, like
/// the weights of a 1 × 1 convolution.
struct PanelFactor: Sendable {
  let depth: Int
  let columns: Int
  /// The columns in whole blocks.
  let width: Int
  private let run: Int
  private let kernels: any KernelTable.Type

  init(depth: Int, columns: Int, _ kernels: any KernelTable.Type) {
    let block = kernels.channelBlock
    self.depth = depth
    self.columns = columns
    self.kernels = kernels
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
    kernels.packConvolutionWeights(
      PackingArguments(
        source: source,
        layout: WeightLayout(
          outputStride: column, inputStride: row, rowStride: 1, columnStride: 1,
          outputChannels: columns, inputChannels: depth, kernelHeight: 1, kernelWidth: 1),
        panels: 0..<(width + panelWidth - 1) / panelWidth, packed: packed),
      blockChannels: run, panelBlocks: kernels.panelBlocks)
    if scale == 1 { return }
    kernels.unary(
      UnaryArguments(function: .linear, input: packed, output: packed, count: floats, alpha: scale))
  }

  /// Writes `width` columns of `rows · factor`.
  ///
  /// - Parameter stride: floats between adjacent rows.
  func multiply(
    _ rows: UnsafePointer<Float>, stride: Int, count: Int, by packed: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>, outputStride: Int
  ) {
    kernels.convolution(
      ConvolutionArguments(
        input: rows, inputStrides: Strides(pixel: stride, block: run), inputBlocks: depth / run,
        blockChannels: run, weights: packed, output: output,
        outputStrides: Strides(pixel: outputStride, block: kernels.channelBlock),
        extent: Extent(blocks: width / kernels.channelBlock, rows: 1, width: count)))
  }

  /// The same for `columns` columns alone; `strip` has room for `count` rows of `width`.
  func multiply(
    _ rows: UnsafePointer<Float>, stride: Int, count: Int, by packed: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>, outputStride: Int, strip: UnsafeMutablePointer<Float>
  ) {
    if width == columns {
      return multiply(
        rows, stride: stride, count: count, by: packed, to: output, outputStride: outputStride)
    }
    multiply(rows, stride: stride, count: count, by: packed, to: strip, outputStride: width)
    for row in 0..<count {
      (output + row * outputStride).update(from: strip + row * width, count: columns)
    }
  }
}

extension KernelTable {
  /// How many of `depth` terms a tile sums in one loop: many, but few enough for short parts of
  /// sums, and whole blocks if possible.
  static func runLength(of depth: Int) -> Int {
    (1...128 / channelBlock).reversed().map { $0 * channelBlock }.first { depth % $0 == 0 } ?? depth
  }

  /// Rows of a product to compute at a time: full tiles, but a result that stays in the cache.
  static var productBand: Int { 48 / pixelTile * pixelTile }
}
