/// What computes products of matrices as tiles of numbers in bf16, three for each float: as exact as
/// multiply-adds, or more. See `Tiles.h`.
package enum Tiles: Sendable {
  case none
  case processor
  /// Without the processor's support, for tests.
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
  package var input: UnsafePointer<Float>
  package var inputStrides: Strides
  /// Number of blocks, or planes, summed over.
  package var inputBlocks: Int
  /// Channels of an input block.
  package var blockChannels: Int
  /// Whether the input was read or written recently, so that prefetching it would be a waste.
  package var isInputNear = false
  package var weights: UnsafePointer<Float>
  package var window: Window
  package var output: UnsafeMutablePointer<Float>
  package var outputStrides: Strides
  /// What to compute, starting at `output`.
  package var extent: Extent
  package var epilogue: Epilogue
  /// Must not depend on how the rows or output channels of a layer are divided among calls.
  package var tiles = Tiles.none

  package init(
    input: UnsafePointer<Float>, inputStrides: Strides, inputBlocks: Int = 1,
    blockChannels: Int = 1, weights: UnsafePointer<Float>, window: Window = Window(),
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, extent: Extent,
    epilogue: Epilogue = Epilogue()
  ) {
    self.input = input
    self.inputStrides = inputStrides
    self.inputBlocks = inputBlocks
    self.blockChannels = blockChannels
    self.weights = weights
    self.window = window
    self.output = output
    self.outputStrides = outputStrides
    self.extent = extent
    self.epilogue = epilogue
  }
}
