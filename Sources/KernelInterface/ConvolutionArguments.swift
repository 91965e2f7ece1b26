/// How to compute products of matrices on tiles of bf16 numbers, three for each float, at least as
/// exactly as with multiply-adds. See `Tiles.h`.
package enum Tiles: Sendable {
  case none
  case processor
  /// Emulates the processor's tiles, for tests.
  case emulated
}

/// Packed weights as codes of one byte each, in the order of the floats. `convolution` expands those
/// that it sums at a time just before it uses them.
package struct CodedWeights: @unchecked Sendable {
  /// All codes, as one panel.
  package var panel: CodePanel
  /// Memory for the weights of the input blocks that are summed at a time.
  package var expanded: UnsafeMutablePointer<Float>

  package init(_ panel: CodePanel, expanded: UnsafeMutablePointer<Float>) {
    (self.panel, self.expanded) = (panel, expanded)
  }
}

/// Sums of integers instead of floats. Each word of the input is four signed bytes q, each word of the
/// weights four unsigned ones c:
///
///     sum = scale · (start + Σ q · c) + offset · Σ(taps) total
///
/// For inputs s · (q − z) and weights f · c + b, `scale` is s · f, `start` −z · Σ c, `offset` s · b, and
/// a pixel's total the sum of its q − z. The sums of integers must be below 2³¹.
package struct ByteSums: @unchecked Sendable {
  /// One value per output channel, padded to whole blocks; `start` has the bits of an `Int32`.
  package var start, scale, offset: UnsafePointer<Float>
  /// The words from the start of a pixel to its total, a float. Runs of a pixel's words, a multiple of
  /// 4, must not be adjacent.
  package var totalWord: Int

  package init(
    start: UnsafePointer<Float>, scale: UnsafePointer<Float>, offset: UnsafePointer<Float>,
    totalWord: Int
  ) {
    (self.start, self.scale, self.offset, self.totalWord) = (start, scale, offset, totalWord)
  }

  package func from(_ channel: Int) -> ByteSums {
    ByteSums(
      start: start + channel, scale: scale + channel, offset: offset + channel,
      totalWord: totalWord)
  }
}

/// Rounds blocked pixels of a row to signed bytes `x · inverse + zero`, ties to even, in words as for
/// `ByteSums`, with all channels of a pixel adjacent and followed by its total.
package struct ByteRounding: @unchecked Sendable {
  /// Distances are from one pixel or block to the next that is rounded.
  package var input: InputView
  package var blocks: Int
  package var width: Int
  package var inverse: Float = 1
  package var zero: Int32 = 0
  /// The total is the first of a pixel's last four words.
  package var output: OutputView

  package var totalWord: Int { output.strides.pixel - 4 }

  package init(input: InputView, blocks: Int, width: Int, output: OutputView) {
    (self.input, self.blocks, self.width, self.output) = (input, blocks, width, output)
  }
}

/// A convolution, or one group of it, computed tap by tap:
///
///     out[b][y][x] = activation(bias + residual
///       + Σ(i, ky, kx) in[i][y·strideY + ky·dilationY][x·strideX + kx·dilationX] · w[b][i][ky][kx])
///
/// The kernel defines the contents of an input and output block, and so the layout of the weights.
/// Only the rows and columns in the formula are read.
package struct ConvolutionArguments: @unchecked Sendable {
  /// Tap (0, 0) of output pixel (0, 0), channel 0.
  package var input: InputView
  /// Number of blocks, or planes, summed over.
  package var inputBlocks = 1
  /// Channels of an input block.
  package var blockChannels = 1
  /// Whether the input was read or written recently, so that prefetching it would be a waste.
  package var isInputNear = false
  package var weights: UnsafePointer<Float>
  /// What takes the place of `weights`; not with tiles.
  package var coded: CodedWeights?
  /// For sums of integers, which have a single input block.
  package var bytes: ByteSums?
  package var window = Window()
  package var output: OutputView
  /// What to compute, starting at `output`.
  package var extent: Extent
  package var epilogue = Epilogue()
  /// Must not depend on how the rows or output channels of a layer are divided among calls.
  package var tiles = Tiles.none

  package init(
    input: InputView, weights: UnsafePointer<Float>, output: OutputView, extent: Extent
  ) {
    (self.input, self.weights, self.output, self.extent) = (input, weights, output, extent)
  }

  /// The number of input blocks to sum at a time, so that their weights stay in the L2 cache for all
  /// tiles, along with the weights prefetched for later. It must depend only on the weights, because
  /// sums are rounded between pieces.
  ///
  /// - Parameter blockFloats: weights of an input block in the panel.
  package static func blocksAtOnce(_ inputBlocks: Int, blockFloats: Int) -> Int {
    let most = 32 << 10
    let floats = inputBlocks &* blockFloats
    if floats <= most &+ most / 2 { return max(1, inputBlocks) }
    let pieces = (floats &+ most &- 1) / most
    return (inputBlocks &+ pieces &- 1) / pieces
  }
}
