import TensorCore

/// The channels of an image in a tensor, and their order.
package enum ChannelOrder: String, Sendable, CaseIterable {
  case rgb, bgr, grayscale

  package var channelCount: Int { self == .grayscale ? 1 : 3 }
}

/// The position of the channels among a tensor's axes.
package enum ChannelAxis: Sendable {
  /// `[channel, height, width]`
  case first
  /// `[height, width, channel]`
  case last
}

extension Image {
  /// The samples as floats 0…255, of shape `[channel, height, width]` or `[height, width,
  /// channel]`. Gray is repeated for color; color becomes gray as in `grayscale()`.
  package func tensor(_ order: ChannelOrder, channels axis: ChannelAxis = .first) throws -> Tensor {
    let source = order == .grayscale ? try grayscale() : try rgb()
    let channelCount = order.channelCount
    let shape = axis == .first ? [channelCount, height, width] : [height, width, channelCount]
    let (pixelStep, channelStep) = axis == .first ? (1, width * height) : (channelCount, 1)
    return try Tensor(checkedShape: shape) { target in
      source.samples.withUnsafeBytes { samples in
        for channel in 0..<channelCount {
          let from = order == .bgr ? 2 - channel : channel
          for pixel in 0..<width * height {
            target[pixel &* pixelStep &+ channel &* channelStep] = Float(
              samples[pixel &* channelCount &+ from])
          }
        }
      }
    }
  }

  /// An image of a tensor's values, each clamped to 0…255 and rounded to the nearest integer,
  /// halves away from zero; NaN becomes 0.
  ///
  /// The shape is `[channel, height, width]` or `[height, width, channel]`, optionally with leading
  /// axes of length 1; gray may omit its channel axis.
  package init(
    _ tensor: Tensor, _ order: ChannelOrder, channels axis: ChannelAxis = .first
  ) throws {
    var shape = tensor.shape
    while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
    if shape.count == 2, order == .grayscale { shape.insert(1, at: axis == .first ? 0 : 2) }
    let channelCount = order.channelCount
    try require(
      shape.count == 3 && shape[axis == .first ? 0 : 2] == channelCount, .mismatch,
      "an array of shape \(tensor.shape) is not an image with \(channelCount) channel"
        + (channelCount == 1 ? "" : "s"))
    let height = axis == .first ? shape[1] : shape[0]
    let width = axis == .first ? shape[2] : shape[1]
    let buffer = try SampleBuffer(width: width, height: height, channelCount: channelCount)
    let target = buffer.bytes
    let (pixelStep, channelStep) = axis == .first ? (1, width * height) : (channelCount, 1)
    tensor.withUnsafeElements { source in
      for channel in 0..<channelCount {
        let to = order == .bgr ? 2 - channel : channel
        for pixel in 0..<width * height {
          target[pixel &* channelCount &+ to] = UInt8(
            rounding: source[pixel &* pixelStep &+ channel &* channelStep])
        }
      }
    }
    self.init(width: width, height: height, channelCount: channelCount, samples: buffer.finished)
  }
}
