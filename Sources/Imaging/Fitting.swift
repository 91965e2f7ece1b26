import TensorCore

/// How to fit an image whose size differs from the model's; the names are those of the command
/// line.
public enum Fitting: String, CaseIterable, Sendable {
  /// Throws an error.
  case exact
  /// Resizes each axis independently, like Vision's `scaleFill`.
  case squash
  /// Resizes the largest centered part that has the model's aspect ratio, like Vision's
  /// `centerCrop`.
  case centerCrop = "center-crop"
  /// Resizes the whole image, keeps its aspect ratio and adds black bars, like Vision's `scaleFit`.
  case fit
}

/// Which part of an image is used, and its position in the model's input.
struct ImagePlacement: Equatable {
  /// The part, in samples of the image.
  let source: Box
  /// The position in samples of the model's input, which is black elsewhere.
  let left: Int
  let top: Int
  let width: Int
  let height: Int

  /// - Parameters:
  ///   - size: the size of the image.
  ///   - width: the width of the model's input.
  /// - Throws: `.mismatch` with both sizes if they differ and `fitting` is `exact`.
  init(of size: (width: Int, height: Int), width: Int, height: Int, _ fitting: Fitting) throws {
    let (across, down) = (Double(size.width), Double(size.height))
    let whole = Box(left: 0, top: 0, right: across, bottom: down)
    switch fitting {
    case .exact where size != (width, height):
      throw ModelError(
        .mismatch,
        "the image is \(size.width)×\(size.height), but the model takes \(width)×\(height)",
        hint: "resize it with \(setting: "resize") squash, center-crop or fit")
    case .exact, .squash:
      self.init(source: whole, left: 0, top: 0, width: width, height: height)
    case .centerCrop:
      let proportion = Double(width) / Double(height)
      let partAcross = min(across, down * proportion)
      let partDown = min(down, across / proportion)
      let left = (across - partAcross) / 2
      let top = (down - partDown) / 2
      self.init(
        source: Box(left: left, top: top, right: left + partAcross, bottom: top + partDown),
        left: 0, top: 0, width: width, height: height)
    case .fit:
      let scale = min(Double(width) / across, Double(height) / down)
      func side(_ length: Double, limit: Int) -> Int {
        min(limit, max(1, Int((length * scale).rounded())))
      }
      let (inner, outer) = (side(across, limit: width), side(down, limit: height))
      self.init(
        source: whole, left: (width - inner) / 2, top: (height - outer) / 2, width: inner,
        height: outer)
    }
  }

  init(source: Box, left: Int, top: Int, width: Int, height: Int) {
    (self.source, self.left, self.top, self.width, self.height) = (source, left, top, width, height)
  }
}

extension Image {
  /// The image resized to `width` × `height`, with 8-bit samples for every interpolation.
  ///
  /// - Throws: `.mismatch` with both sizes if they differ and `fitting` is `exact`.
  public func fitted(
    width: Int, height: Int, _ fitting: Fitting, _ interpolation: Interpolation
  ) throws -> Image {
    if width == self.width, height == self.height { return self }
    let placement = try ImagePlacement(
      of: (self.width, self.height), width: width, height: height, fitting)
    return try resized(
      width: placement.width, height: placement.height, interpolation, of: placement.source
    ).framed(placement, width: width, height: height)
  }

  /// The image at its position in a larger black image.
  private func framed(_ placement: ImagePlacement, width: Int, height: Int) throws -> Image {
    if width == self.width, height == self.height { return self }
    let count = self.width * channelCount
    return try mapped(width: width, height: height) { source, target in
      target.update(repeating: 0)
      for y in 0..<self.height {
        let to = ((placement.top + y) * width + placement.left) * channelCount
        for x in 0..<count { target[to &+ x] = source[y &* count &+ x] }
      }
    }
  }
}
