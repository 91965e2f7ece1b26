/// How to compute products of matrices on tiles of bf16 numbers, three for each float, at least as
/// exactly as with multiply-adds. See `Tiles.h`.
package enum Tiles: Sendable {
  case none
  case processor
  /// Emulates the processor's tiles, for tests.
  case emulated
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
}
