/// One group of a convolution over blocked, planar or interleaved input; blocked output.
///
///     out[b][y][x][l] = activation(start + residual
///       + Σ(i, ky, kx, c) in[i][y·strideY + ky·dilationY][x·strideX + kx·dilationX][c]
///                         · w[i][ky][kx][c][b·block + l])
///
/// `start` is the bias, or what stands in the output where `accumulates` is set. The order of the
/// sum is the order of the indices, in parts of some 32 terms, and does not depend on how rows or
/// output channels are divided among calls. Strides count floats. Nothing outside the rows and columns that the formula names is read.
///
/// A blocked input has `inputPixelStride` and `blockChannels` equal to the table's `channelBlock`;
/// a planar one 1 and 1, a block being a plane; an interleaved one of C channels C and C, and a
/// single block.
package struct ConvolutionArguments: @unchecked Sendable {
  /// Tap (0, 0) of output pixel (0, 0), channel 0 of the whole input.
  package var input: UnsafePointer<Float>
  package var inputPixelStride: Int
  package var inputRowStride: Int
  package var inputBlockStride: Int
  /// The sum runs over the blocks `firstInputBlock ..< firstInputBlock + inputBlocks`.
  package var firstInputBlock: Int
  package var inputBlocks: Int
  package var blockChannels: Int
  /// Whether the input has been read or written a moment ago: fetching it ahead would be a waste.
  package var isInputNear = false

  /// The panel of the first output block, from `packConvolutionWeights`.
  package var weights: UnsafePointer<Float>
  /// Input blocks for which weights were packed.
  package var packedBlocks: Int
  package var kernelHeight: Int
  package var kernelWidth: Int
  package var strideY: Int
  package var strideX: Int
  package var dilationY: Int
  package var dilationX: Int

  package var output: UnsafeMutablePointer<Float>
  /// Floats between horizontally adjacent output pixels; nil is `channelBlock`. A wider one leaves
  /// pixels out, for the phases of a transposed convolution.
  package var outputPixelStride: Int?
  package var outputRowStride: Int
  package var outputBlockStride: Int
  package var outputRows: Int
  package var outputWidth: Int
  /// Channel blocks to compute, beginning with the first of a panel.
  package var outputBlocks: Int

  /// One a channel, padded to whole blocks; nil is zero. Not used where `accumulates` is set.
  package var bias: UnsafePointer<Float>?
  /// Whether the sums continue what stands in the output.
  package var accumulates: Bool
  package var epilogue: Epilogue

  package init(
    input: UnsafePointer<Float>, inputPixelStride: Int, inputRowStride: Int,
    inputBlockStride: Int, firstInputBlock: Int = 0, inputBlocks: Int, blockChannels: Int,
    weights: UnsafePointer<Float>, packedBlocks: Int,
    kernelHeight: Int = 1, kernelWidth: Int = 1, strideY: Int = 1, strideX: Int = 1,
    dilationY: Int = 1, dilationX: Int = 1,
    output: UnsafeMutablePointer<Float>, outputPixelStride: Int? = nil, outputRowStride: Int,
    outputBlockStride: Int, outputRows: Int, outputWidth: Int, outputBlocks: Int,
    bias: UnsafePointer<Float>? = nil, accumulates: Bool = false, epilogue: Epilogue = Epilogue()
  ) {
    self.input = input
    self.inputPixelStride = inputPixelStride
    self.inputRowStride = inputRowStride
    self.inputBlockStride = inputBlockStride
    self.firstInputBlock = firstInputBlock
    self.inputBlocks = inputBlocks
    self.blockChannels = blockChannels
    self.weights = weights
    self.packedBlocks = packedBlocks
    self.kernelHeight = kernelHeight
    self.kernelWidth = kernelWidth
    self.strideY = strideY
    self.strideX = strideX
    self.dilationY = dilationY
    self.dilationX = dilationX
    self.output = output
    self.outputPixelStride = outputPixelStride
    self.outputRowStride = outputRowStride
    self.outputBlockStride = outputBlockStride
    self.outputRows = outputRows
    self.outputWidth = outputWidth
    self.outputBlocks = outputBlocks
    self.bias = bias
    self.accumulates = accumulates
    self.epilogue = epilogue
  }
}

/// A convolution with one input channel a group and as many outputs as inputs, blocked.
///
///     out[b][y][x][l] = activation(bias[b][l] + residual
///       + Σ(ky, kx) in[b][y·strideY + ky·dilationY][x·strideX + kx·dilationX][l] · w[b][ky][kx][l])
package struct DepthwiseConvolutionArguments: @unchecked Sendable {
  /// Tap (0, 0) of output pixel (0, 0).
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var inputBlockStride: Int
  /// `[block][kernelHeight][kernelWidth][channelBlock]`, from `packConvolutionWeights`.
  package var weights: UnsafePointer<Float>
  package var kernelHeight: Int
  package var kernelWidth: Int
  package var strideY: Int
  package var strideX: Int
  package var dilationY: Int
  package var dilationX: Int
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputBlockStride: Int
  package var outputRows: Int
  package var outputWidth: Int
  package var blocks: Int
  /// One a channel, padded to whole blocks; nil is zero.
  package var bias: UnsafePointer<Float>?
  package var epilogue: Epilogue

  package init(
    input: UnsafePointer<Float>, inputRowStride: Int, inputBlockStride: Int,
    weights: UnsafePointer<Float>, kernelHeight: Int, kernelWidth: Int, strideY: Int = 1,
    strideX: Int = 1, dilationY: Int = 1, dilationX: Int = 1,
    output: UnsafeMutablePointer<Float>, outputRowStride: Int, outputBlockStride: Int,
    outputRows: Int, outputWidth: Int, blocks: Int, bias: UnsafePointer<Float>? = nil,
    epilogue: Epilogue = Epilogue()
  ) {
    self.input = input
    self.inputRowStride = inputRowStride
    self.inputBlockStride = inputBlockStride
    self.weights = weights
    self.kernelHeight = kernelHeight
    self.kernelWidth = kernelWidth
    self.strideY = strideY
    self.strideX = strideX
    self.dilationY = dilationY
    self.dilationX = dilationX
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputBlockStride = outputBlockStride
    self.outputRows = outputRows
    self.outputWidth = outputWidth
    self.blocks = blocks
    self.bias = bias
    self.epilogue = epilogue
  }
}

/// Any convolution whose groups do not fill whole blocks, one output channel at a time. Input and
/// output are blocked; weights stand as `[outputChannel][groupInputChannels][kernelHeight][kernelWidth]`.
/// Output channel `o` reads the input channels of group `o / (outputChannels / groups)`. No epilogue:
/// activations run separately.
package struct GeneralConvolutionArguments: @unchecked Sendable {
  /// Tap (0, 0) of output pixel (0, 0), channel 0 of the whole input.
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var inputBlockStride: Int
  /// The first output channel's; possibly unaligned.
  package var weights: UnsafeRawPointer
  package var groupInputChannels: Int
  package var groupOutputChannels: Int
  package var kernelHeight: Int
  package var kernelWidth: Int
  package var strideY: Int
  package var strideX: Int
  package var dilationY: Int
  package var dilationX: Int
  /// Pixel (0, 0), channel 0 of the whole output.
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputBlockStride: Int
  package var outputRows: Int
  package var outputWidth: Int
  /// The channels to compute. Lanes of the last block beyond the last channel are not written.
  package var firstChannel: Int
  package var channelCount: Int
  /// One a channel; nil is zero.
  package var bias: UnsafePointer<Float>?

  package init(
    input: UnsafePointer<Float>, inputRowStride: Int, inputBlockStride: Int,
    weights: UnsafeRawPointer, groupInputChannels: Int, groupOutputChannels: Int,
    kernelHeight: Int, kernelWidth: Int, strideY: Int = 1, strideX: Int = 1,
    dilationY: Int = 1, dilationX: Int = 1,
    output: UnsafeMutablePointer<Float>, outputRowStride: Int, outputBlockStride: Int,
    outputRows: Int, outputWidth: Int, firstChannel: Int = 0, channelCount: Int,
    bias: UnsafePointer<Float>? = nil
  ) {
    self.input = input
    self.inputRowStride = inputRowStride
    self.inputBlockStride = inputBlockStride
    self.weights = weights
    self.groupInputChannels = groupInputChannels
    self.groupOutputChannels = groupOutputChannels
    self.kernelHeight = kernelHeight
    self.kernelWidth = kernelWidth
    self.strideY = strideY
    self.strideX = strideX
    self.dilationY = dilationY
    self.dilationX = dilationX
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputBlockStride = outputBlockStride
    self.outputRows = outputRows
    self.outputWidth = outputWidth
    self.firstChannel = firstChannel
    self.channelCount = channelCount
    self.bias = bias
  }
}
