/// One level of Strassen's algorithm for a 1 × 1 convolution: the product of the pixels, a row of
/// input channels each, and the weights, halved both ways.
///
///     ⎡ A₁₁ A₁₂ ⎤   pixels 0 ..< pairs, channels of the first and second half
///     ⎣ A₂₁ A₂₂ ⎦   pixels pairs ..< 2 · pairs
///
///     M₀ = (A₁₁ + A₂₂) (B₁₁ + B₂₂)    M₁ = (A₂₁ + A₂₂) B₁₁
///     M₂ = A₁₁ (B₁₂ − B₂₂)            M₃ = A₂₂ (B₂₁ − B₁₁)
///     M₄ = (A₁₁ + A₁₂) B₂₂            M₅ = (A₂₁ − A₁₁) (B₁₁ + B₁₂)
///     M₆ = (A₁₂ − A₂₂) (B₂₁ + B₂₂)
///
///     C₁₁ = M₀ + M₃ − M₄ + M₆         C₁₂ = M₂ + M₄
///     C₂₁ = M₁ + M₃                   C₂₂ = M₀ − M₁ + M₂ + M₅
///
/// Seven products of a quarter's size instead of eight. Source: V. Strassen, "Gaussian elimination
/// is not optimal", Numerische Mathematik 13 (1969).
///
/// Pixels are those of the output, numbered row by row over all images; pixel `p` makes a pair with
/// pixel `p + pairs`. Where their number is odd, the last pair's second pixel counts as zero and is
/// not written. Nor is a channel block of the second half that would be one more than there are.
package struct StrassenPairs: Sendable {
  package var images: Int
  /// Of the output of one image.
  package var rows: Int
  package var width: Int
  /// The pairs of one call.
  package var first: Int
  package var count: Int

  /// Products, and so matrices of combined weights.
  package static let products = 7

  package init(images: Int, rows: Int, width: Int, first: Int, count: Int) {
    self.images = images
    self.rows = rows
    self.width = width
    self.first = first
    self.count = count
  }

  package var pixels: Int { images * rows * width }
  /// Of all calls.
  package var pairs: Int { (pixels + 1) / 2 }
}

/// The left factors of the seven products.
///
///     sums[product][block][pair][lane]
///
/// `pair` counts from the call's first one.
package struct StrassenInputArguments: @unchecked Sendable {
  package var pairs: StrassenPairs
  /// What output pixel (0, 0) of the first image reads, channel 0; blocked.
  package var input: UnsafePointer<Float>
  /// Floats between what neighbours read: the convolution's stride is part of these.
  package var inputPixelStride: Int
  package var inputRowStride: Int
  package var inputBlockStride: Int
  package var inputImageStride: Int
  /// Channel blocks of the first half, and of both.
  package var blocks: Int
  package var allBlocks: Int
  package var sums: UnsafeMutablePointer<Float>
  package var productStride: Int

  package init(
    pairs: StrassenPairs, input: UnsafePointer<Float>, inputPixelStride: Int, inputRowStride: Int,
    inputBlockStride: Int, inputImageStride: Int, blocks: Int, allBlocks: Int,
    sums: UnsafeMutablePointer<Float>, productStride: Int
  ) {
    self.pairs = pairs
    self.input = input
    self.inputPixelStride = inputPixelStride
    self.inputRowStride = inputRowStride
    self.inputBlockStride = inputBlockStride
    self.inputImageStride = inputImageStride
    self.blocks = blocks
    self.allBlocks = allBlocks
    self.sums = sums
    self.productStride = productStride
  }
}

/// The seven products of one panel of output channels → output, of both halves.
///
///     out = activation(bias + C + residual)
package struct StrassenOutputArguments: @unchecked Sendable {
  package var pairs: StrassenPairs
  /// `[product][pair][column]`
  package var products: UnsafePointer<Float>
  package var productStride: Int
  /// Columns of the panel, whole blocks.
  package var width: Int
  /// The panel's first channel in the first half, and what is added for the second.
  package var channel: Int
  package var halfChannels: Int
  /// Channels of both halves, whole blocks.
  package var channels: Int
  /// Pixel (0, 0), channel 0, of the first image; blocked.
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputBlockStride: Int
  package var outputImageStride: Int
  /// One a channel, padded to whole blocks; nil is zero.
  package var bias: UnsafePointer<Float>?
  /// Residual and slopes of the whole output.
  package var epilogue: Epilogue
  package var residualImageStride: Int

  package init(
    pairs: StrassenPairs, products: UnsafePointer<Float>, productStride: Int, width: Int,
    channel: Int, halfChannels: Int, channels: Int, output: UnsafeMutablePointer<Float>,
    outputRowStride: Int, outputBlockStride: Int, outputImageStride: Int,
    bias: UnsafePointer<Float>? = nil, epilogue: Epilogue = Epilogue(),
    residualImageStride: Int = 0
  ) {
    self.pairs = pairs
    self.products = products
    self.productStride = productStride
    self.width = width
    self.channel = channel
    self.halfChannels = halfChannels
    self.channels = channels
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputBlockStride = outputBlockStride
    self.outputImageStride = outputImageStride
    self.bias = bias
    self.epilogue = epilogue
    self.residualImageStride = residualImageStride
  }
}
