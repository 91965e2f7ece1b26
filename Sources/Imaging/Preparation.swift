import TensorCore

extension Image {
  /// The input of a model for `width` × `height` images: `[1, channel, height, width]`, 0…255.
  ///
  /// The image is converted to the model's color layout first, then resized.
  ///
  /// - Throws: `.mismatch` if the options do not produce that size.
  package func prepared(
    width: Int, height: Int, _ order: ChannelOrder, _ options: ImageOptions = ImageOptions()
  ) throws -> Tensor {
    let image = order == .grayscale ? try grayscale() : try rgb()
    guard let side = options.firstSide else {
      if options.interpolation != .tensorFlowBilinear {
        let tensor = try image.fitted(
          width: width, height: height, options.fitting, options.interpolation
        ).tensor(order)
        return tensor.reshaped([1] + tensor.shape)
      }
      return try image.values(width: width, height: height, options).planes(order)
    }
    try require(
      width <= side && height <= side, .mismatch,
      "the model takes \(width)×\(height), which does not fit into \(side)×\(side)",
      hint: "choose another \(setting: "resize")")
    let square = try image.values(width: side, height: side, options)
    return try square.center(width: width, height: height).planes(order)
  }

  /// The samples of the fitted image.
  private func values(width: Int, height: Int, _ options: ImageOptions) throws -> PixelValues {
    guard options.interpolation == .tensorFlowBilinear, (width, height) != (self.width, self.height)
    else {
      return try PixelValues(
        fitted(width: width, height: height, options.fitting, options.interpolation))
    }
    let placement = try ImagePlacement(
      of: (self.width, self.height), width: width, height: height, options.fitting)
    return try PixelValues(width: width, height: height, channelCount: channelCount) { target in
      resizeWithoutFilter(placement, width: width, into: target)
    }
  }
}

/// An image with non-integer samples, with rows from top to bottom and interleaved channels.
private struct PixelValues {
  let width: Int
  let height: Int
  let channelCount: Int
  /// The samples, `[height, width, channelCount]`.
  let samples: Tensor

  /// An image that is zero except where `body` writes.
  init(
    width: Int, height: Int, channelCount: Int,
    _ body: (UnsafeMutableBufferPointer<Float>) -> Void
  ) throws {
    try SampleBuffer.checkSize(width: width, height: height)
    (self.width, self.height) = (width, height)
    self.channelCount = channelCount
    samples = try Tensor(checkedShape: [height, width, channelCount]) { target in
      target.update(repeating: 0)
      body(target)
    }
  }

  init(_ image: Image) throws {
    try self.init(
      width: image.width, height: image.height, channelCount: image.channelCount
    ) { target in
      image.samples.withUnsafeBytes { source in
        for index in source.indices { target[index] = Float(source[index]) }
      }
    }
  }

  /// The samples as `[1, channel, height, width]`, with channels in the given order.
  func planes(_ order: ChannelOrder) throws -> Tensor {
    let plane = width * height
    return try Tensor(checkedShape: [1, channelCount, height, width]) { target in
      samples.withUnsafeElements { source in
        for channel in 0..<channelCount {
          let from = order == .bgr ? channelCount - 1 - channel : channel
          let to = channel * plane
          for pixel in 0..<plane { target[to &+ pixel] = source[from &+ pixel &* channelCount] }
        }
      }
    }
  }

  /// The center of the image; `width` × `height` must fit into it.
  func center(width: Int, height: Int) throws -> PixelValues {
    let (left, top) = ((self.width - width) / 2, (self.height - height) / 2)
    let row = width * channelCount
    return try PixelValues(width: width, height: height, channelCount: channelCount) { target in
      samples.withUnsafeElements { source in
        for y in 0..<height {
          let from = ((top + y) * self.width + left) * channelCount
          for x in 0..<row { target[y * row + x] = source[from + x] }
        }
      }
    }
  }
}
