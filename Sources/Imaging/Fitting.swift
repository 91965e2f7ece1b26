import TensorCore

/// What becomes of a picture whose size is not the model's; the names are the command line's.
public enum Fitting: String, CaseIterable, Sendable {
  /// It is an error.
  case exact
  /// Each axis is resized by itself, as Vision's `scaleFill`.
  case squash
  /// The largest part in the middle that has the model's proportions is resized, as Vision's
  /// `centerCrop`.
  case centerCrop = "center-crop"
  /// The whole picture is resized in its proportions, with black around it, as Vision's `scaleFit`.
  case fit
}

extension Image {
  /// The picture in the size `width` × `height`.
  ///
  /// - Throws: `.mismatch` that names both sizes where they differ and `fitting` is `exact`.
  public func fitted(
    width: Int, height: Int, _ fitting: Fitting, _ interpolation: Interpolation
  ) throws -> Image {
    if width == self.width, height == self.height { return self }
    switch fitting {
    case .exact:
      throw ModelError(
        .mismatch,
        "the picture is \(self.width)×\(self.height), the model takes \(width)×\(height)",
        hint: "give a picture of the model's size, or --resize squash, center-crop or fit")
    case .squash: return try resized(width: width, height: height, interpolation)
    case .centerCrop:
      return try resized(
        width: width, height: height, interpolation, of: middle(width: width, height: height))
    case .fit:
      let scale = min(
        Double(width) / Double(self.width), Double(height) / Double(self.height))
      func side(_ length: Int, limit: Int) -> Int {
        min(limit, max(1, Int((Double(length) * scale).rounded())))
      }
      return try resized(
        width: side(self.width, limit: width), height: side(self.height, limit: height),
        interpolation
      ).framed(width: width, height: height)
    }
  }

  private func middle(width: Int, height: Int) -> ImageRegion {
    let proportion = Double(width) / Double(height)
    let across = min(Double(self.width), Double(self.height) * proportion)
    let down = min(Double(self.height), Double(self.width) / proportion)
    let left = (Double(self.width) - across) / 2
    let top = (Double(self.height) - down) / 2
    return ImageRegion(left: left, top: top, right: left + across, bottom: top + down)
  }

  /// The picture in the middle of a larger black one.
  private func framed(width: Int, height: Int) throws -> Image {
    let buffer = try SampleBuffer(width: width, height: height, channelCount: channelCount)
    let target = buffer.bytes
    target.update(repeating: 0)
    let left = (width - self.width) / 2
    let top = (height - self.height) / 2
    let count = self.width * channelCount
    samples.withUnsafeBytes { source in
      for y in 0..<self.height {
        let to = ((top + y) * width + left) * channelCount
        for x in 0..<count { target[to &+ x] = source[y &* count &+ x] }
      }
    }
    return Image(
      width: width, height: height, channelCount: channelCount, samples: buffer.finished)
  }
}
