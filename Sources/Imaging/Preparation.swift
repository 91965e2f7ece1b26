import TensorCore

extension Image {
  /// The input of a model of `width` × `height` samples: `[part, channel, height, width]`, 0…255,
  /// with one part or, for ten crops, ten.
  ///
  /// The image is converted to the model's color layout first, then resized.
  ///
  /// - Throws: `.mismatch` if the options do not lead to that size.
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
      hint: "choose another --resize")
    let square = try image.values(width: side, height: side, options)
    return try square.parts(width: width, height: height, options.crops).planes(order)
  }

  /// The samples, fitted.
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

/// Images of the same size with non-integer samples, rows from top to bottom, channels interleaved.
private struct PixelValues {
  let count: Int
  let width: Int
  let height: Int
  let channelCount: Int
  /// `[count, height, width, channelCount]`
  let samples: Tensor

  /// One image, zero except where `body` writes.
  init(
    count: Int = 1, width: Int, height: Int, channelCount: Int,
    _ body: (UnsafeMutableBufferPointer<Float>) -> Void
  ) throws {
    try SampleBuffer.checkSize(width: width, height: height)
    (self.count, self.width, self.height) = (count, width, height)
    self.channelCount = channelCount
    samples = try Tensor(checkedShape: [count, height, width, channelCount]) { target in
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

  /// `[count, channel, height, width]` in the order of `order`.
  func planes(_ order: ChannelOrder) throws -> Tensor {
    let plane = width * height
    return try Tensor(checkedShape: [count, channelCount, height, width]) { target in
      samples.withUnsafeElements { source in
        for image in 0..<count {
          let start = image * channelCount * plane
          for channel in 0..<channelCount {
            let from = start + (order == .bgr ? channelCount - 1 - channel : channel)
            let to = start + channel * plane
            for pixel in 0..<plane {
              target[to &+ pixel] = source[from &+ pixel &* channelCount]
            }
          }
        }
      }
    }
  }

  /// Parts of an image; `width` × `height` must fit into it.
  func parts(width: Int, height: Int, _ crops: ImageOptions.Crops) throws -> PixelValues {
    let (right, bottom) = (self.width - width, self.height - height)
    var places: [(left: Int, top: Int, isMirrored: Bool)] = [(right / 2, bottom / 2, false)]
    if crops == .ten {
      places = [(0, 0), (right, 0), (0, bottom), (right, bottom)].map { ($0, $1, false) } + places
      places += places.map { ($0.left, $0.top, true) }
    }
    let row = width * channelCount
    return try PixelValues(
      count: places.count, width: width, height: height, channelCount: channelCount
    ) { target in
      samples.withUnsafeElements { source in
        var to = 0
        for (left, top, isMirrored) in places {
          for y in 0..<height {
            let from = ((top + y) * self.width + left) * channelCount
            if isMirrored {
              for x in 0..<width {
                for channel in 0..<channelCount {
                  target[to + x * channelCount + channel] =
                    source[from + (width - 1 - x) * channelCount + channel]
                }
              }
            } else {
              for x in 0..<row { target[to + x] = source[from + x] }
            }
            to += row
          }
        }
      }
    }
  }
}
