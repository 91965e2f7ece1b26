import TensorCore

/// An image of 8-bit samples: gray (one channel) or red, green and blue (three channels), with rows
/// from top to bottom and interleaved channels.
public struct Image: Sendable, Equatable {
  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// 1 or 3.
  public let channelCount: Int
  /// `height · width · channelCount` samples.
  public let samples: Bytes
  /// The damage of the file from which the image was decoded; nil if there is none.
  package var damage: String?

  /// Precondition: the number of `samples` is the product of the other arguments.
  public init(width: Int, height: Int, channelCount: Int, samples: Bytes) {
    self.init(
      width: width, height: height, channelCount: channelCount, samples: samples, damage: nil)
  }

  package init(width: Int, height: Int, channelCount: Int, samples: Bytes, damage: String?) {
    self.damage = damage
    precondition(channelCount == 1 || channelCount == 3)
    precondition(samples.count == width * height * channelCount)
    (self.width, self.height, self.channelCount) = (width, height, channelCount)
    self.samples = samples
  }

  /// Whether the sizes and the samples are equal.
  public static func == (a: Image, b: Image) -> Bool {
    (a.width, a.height, a.channelCount) == (b.width, b.height, b.channelCount)
      && a.samples == b.samples
  }

  /// The image with three channels; gray is repeated.
  public func rgb() throws -> Image {
    if channelCount == 3 { return self }
    return try mapped(width: width, height: height, channelCount: 3) { source, target in
      for pixel in 0..<source.count {
        for channel in 0..<3 { target[3 &* pixel &+ channel] = source[pixel] }
      }
    }
  }

  /// The image with one channel: `L = (19595 R + 38470 G + 7471 B + 2¹⁵) / 2¹⁶`, rounded down,
  /// which is Pillow's form of ITU-R 601-2 luma.
  public func grayscale() throws -> Image {
    if channelCount == 1 { return self }
    return try mapped(width: width, height: height, channelCount: 1) { source, target in
      for pixel in 0..<target.count {
        let (red, green, blue) = (
          source[3 &* pixel], source[3 &* pixel &+ 1], source[3 &* pixel &+ 2]
        )
        target[pixel] = UInt8(
          truncatingIfNeeded: (UInt32(red) &* 19595 &+ UInt32(green) &* 38470 &+ UInt32(blue)
            &* 7471 &+ 0x8000) >> 16)
      }
    }
  }

  /// An image of samples that are computed from those of this one.
  ///
  /// - Parameter channelCount: nil for as many channels as this image has.
  func mapped(
    width: Int, height: Int, channelCount: Int? = nil,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Void
  ) throws -> Image {
    let channelCount = channelCount ?? self.channelCount
    let buffer = try SampleBuffer(width: width, height: height, channelCount: channelCount)
    samples.withUnsafeBytes { body($0.assumingMemoryBound(to: UInt8.self), buffer.bytes) }
    return Image(width: width, height: height, channelCount: channelCount, samples: buffer.finished)
  }
}

/// Samples under construction; their number has been checked against the limits.
struct SampleBuffer {
  private let buffer: AlignedBuffer
  private let count: Int

  /// - Parameter bytesPerSample: 1, or 2 for samples that are narrowed later.
  init(width: Int, height: Int, channelCount: Int, bytesPerSample: Int = 1) throws {
    try Self.checkSize(width: width, height: height)
    let sampleCount = try checkedProduct(
      [width, height, channelCount], limit: Limits.imageSamples)
    count = try checkedProduct([sampleCount, bytesPerSample])
    buffer = try AlignedBuffer(checkedByteCount: count)
  }

  /// Checks a size before anything of that size is allocated.
  ///
  /// - Throws: `.malformed` if a file of `fileByteCount` bytes, each of at most `expansion`
  ///   samples, cannot hold the image. Small images are not checked.
  static func checkFits(
    width: Int, height: Int, channelCount: Int, of format: String, fitsInto fileByteCount: Int,
    expansion: Int
  ) throws {
    try checkSize(width: width, height: height)
    let samples = try checkedProduct([width, height, channelCount], limit: Limits.imageSamples)
    try require(
      samples <= Limits.uncheckedSamples || samples / expansion <= fileByteCount,
      "a \(format) image of \(width) × \(height) pixels does not fit into \(fileByteCount) bytes",
      hint: "the file is truncated or damaged")
  }

  static func checkSize(width: Int, height: Int) throws {
    try require(
      width > 0 && height > 0 && width <= Limits.imageSide && height <= Limits.imageSide,
      width <= 0 || height <= 0 ? .malformed : .limitExceeded,
      "an image of \(width) × \(height) pixels; the limit is \(Limits.imageSide) per side")
  }

  var bytes: UnsafeMutableBufferPointer<UInt8> {
    UnsafeMutableBufferPointer(
      start: buffer.pointer.assumingMemoryBound(to: UInt8.self), count: count)
  }

  /// The samples, which must no longer be written.
  var finished: Bytes { Bytes(base: buffer.pointer, count: count, owner: buffer) }
}
