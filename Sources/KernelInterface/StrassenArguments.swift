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
public struct StrassenPairs: Sendable {
  public var images: Int
  /// Of the output of one image.
  public var rows: Int
  public var width: Int
  /// The pairs of one call.
  public var first: Int
  public var count: Int

  /// Products, and so matrices of combined weights.
  public static let products = 7

  public init(images: Int, rows: Int, width: Int, first: Int, count: Int) {
    self.images = images
    self.rows = rows
    self.width = width
    self.first = first
    self.count = count
  }

  public var pixels: Int { images * rows * width }
  /// Of all calls.
  public var pairs: Int { (pixels + 1) / 2 }
}

/// The left factors of the seven products.
///
///     sums[product][block][pair][lane]
///
/// `pair` counts from the call's first one.
public struct StrassenInputArguments: @unchecked Sendable {
  public var pairs: StrassenPairs
  /// What output pixel (0, 0) of the first image reads, channel 0; blocked.
  public var input: UnsafePointer<Float>
  /// Floats between what neighbours read: the convolution's stride is part of these.
  public var inputPixelStride: Int
  public var inputRowStride: Int
  public var inputBlockStride: Int
  public var inputImageStride: Int
  /// Channel blocks of the first half, and of both.
  public var blocks: Int
  public var allBlocks: Int
  public var sums: UnsafeMutablePointer<Float>
  public var productStride: Int

  public init(
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
public struct StrassenOutputArguments: @unchecked Sendable {
  public var pairs: StrassenPairs
  /// `[product][pair][column]`
  public var products: UnsafePointer<Float>
  public var productStride: Int
  /// Columns of the panel, whole blocks.
  public var width: Int
  /// The panel's first channel in the first half, and what is added for the second.
  public var channel: Int
  public var halfChannels: Int
  /// Channels of both halves, whole blocks.
  public var channels: Int
  /// Pixel (0, 0), channel 0, of the first image; blocked.
  public var output: UnsafeMutablePointer<Float>
  public var outputRowStride: Int
  public var outputBlockStride: Int
  public var outputImageStride: Int
  /// One a channel, padded to whole blocks; nil is zero.
  public var bias: UnsafePointer<Float>?
  /// Residual and slopes of the whole output.
  public var epilogue: Epilogue
  public var residualImageStride: Int

  public init(
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
