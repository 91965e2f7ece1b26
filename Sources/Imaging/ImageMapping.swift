import TensorCore

/// Maps points of the model's image back to the image file.
///
/// Points are in pixels; (0, 0) is the upper left corner of the first pixel. A rectangle of the
/// rotated image was resized to a rectangle of the model's image. On the horizontal axis, the
/// inverse is
///
///     x = source.left + (u − target.left) · source.width / target.width
///
/// after which the rotation is undone.
package struct ImageMapping: Sendable, Equatable {
  /// The part of the rotated image that was used.
  package var source: Box
  /// Its position in the model's image.
  package var target: Box
  /// The size of the rotated image.
  package var width: Int
  package var height: Int
  /// The rotation that was applied.
  package var orientation: Orientation

  package init(
    source: Box, target: Box, width: Int, height: Int,
    orientation: Orientation = .upright
  ) {
    (self.source, self.target, self.width, self.height) = (source, target, width, height)
    self.orientation = orientation
  }

  /// - Parameters:
  ///   - size: the size of the rotated image.
  ///   - width, height: the size of the model's image.
  /// - Throws: `.mismatch` if the sizes differ, but `options` require equal sizes.
  package init(
    of size: (width: Int, height: Int), width: Int, height: Int, _ options: ImageOptions,
    orientation: Orientation = .upright
  ) throws {
    let side = options.firstSide
    let placement = try ImagePlacement(
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

  /// The corresponding point of the rotated image.
  package func rotatedPoint(_ u: Double, _ v: Double) -> (x: Double, y: Double) {
    let across = (source.right - source.left) / (target.right - target.left)
    let down = (source.bottom - source.top) / (target.bottom - target.top)
    return (source.left + (u - target.left) * across, source.top + (v - target.top) * down)
  }

  /// The point of the image file for the point (`x`, `y`) of the rotated image, according to Exif
  /// tag 0x0112.
  package func storedPoint(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    let (right, bottom) = (Double(width), Double(height))
    switch orientation {
    case .upright: return (x, y)
    case .mirrored: return (right - x, y)
    case .upsideDown: return (right - x, bottom - y)
    case .mirroredUpsideDown: return (x, bottom - y)
    case .transposed: return (y, x)
    case .rotatedLeft: return (y, right - x)
    case .transversed: return (bottom - y, right - x)
    case .rotatedRight: return (bottom - y, x)
    }
  }
}
