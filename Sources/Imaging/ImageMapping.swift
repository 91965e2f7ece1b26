import TensorCore

/// Which point of an image's file each point of the model's image was taken from.
///
/// Points are in pixels, (0, 0) the left upper corner of the first one. A rectangle of the turned
/// image was resized into a rectangle of the model's; then, for the horizontal axis,
///
///     x = source.left + (u − target.left) · source.width / target.width
///
/// and the turning is undone.
package struct ImageMapping: Sendable, Equatable {
  /// What was taken of the image, after it was turned.
  package var source: Box
  /// Where it went in the model's image.
  package var target: Box
  /// The size of the image after it was turned.
  package var width: Int
  package var height: Int
  /// How it was turned.
  package var orientation: Orientation

  package init(
    source: Box, target: Box, width: Int, height: Int,
    orientation: Orientation = .upright
  ) {
    self.source = source
    self.target = target
    self.width = width
    self.height = height
    self.orientation = orientation
  }

  /// - Parameters:
  ///   - size: the image's, turned.
  ///   - width, height: the model's.
  /// - Throws: `.mismatch` if the sizes differ and may not, or where the model gets several parts.
  package init(
    of size: (width: Int, height: Int), width: Int, height: Int, _ options: ImageOptions,
    orientation: Orientation = .upright
  ) throws {
    try require(
      options.firstSide == nil || options.crops == .center, .mismatch,
      "this recipe gives ten predictions per image", hint: "choose another --recipe")
    let side = options.firstSide
    let placement = try Placement(
      of: size, width: side ?? width, height: side ?? height, options.fitting)
    let left = Double(placement.left - (side.map { ($0 - width) / 2 } ?? 0))
    let top = Double(placement.top - (side.map { ($0 - height) / 2 } ?? 0))
    self.init(
      source: placement.source,
      target: Box(
        left: left, top: top, right: left + Double(placement.width),
        bottom: top + Double(placement.height)),
      width: size.width, height: size.height, orientation: orientation)
  }

  /// The point of the turned image.
  package func turnedPoint(_ u: Double, _ v: Double) -> (x: Double, y: Double) {
    let across = (source.right - source.left) / (target.right - target.left)
    let down = (source.bottom - source.top) / (target.bottom - target.top)
    return (
      source.left + (u - target.left) * across, source.top + (v - target.top) * down
    )
  }

  /// The point of the file's image that the point (`x`, `y`) of the turned one was, by the table of
  /// Exif's tag 0x0112.
  package func storedPoint(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    let (right, bottom) = (Double(width), Double(height))
    switch orientation {
    case .upright: return (x, y)
    case .mirrored: return (right - x, y)
    case .upsideDown: return (right - x, bottom - y)
    case .mirroredUpsideDown: return (x, bottom - y)
    case .transposed: return (y, x)
    case .turnedLeft: return (y, right - x)
    case .transversed: return (bottom - y, right - x)
    case .turnedRight: return (bottom - y, x)
    }
  }
}
