@_exported import struct Imaging.Box

extension Box {
  package init(centerX: Double, centerY: Double, width: Double, height: Double) {
    self.init(
      left: centerX - width / 2, top: centerY - height / 2, right: centerX + width / 2,
      bottom: centerY + height / 2)
  }

  /// A box from its upper left corner and its size, as in COCO.
  package init(x: Double, y: Double, width: Double, height: Double) {
    self.init(left: x, top: y, right: x + width, bottom: y + height)
  }

  package var width: Double { right - left }
  package var height: Double { bottom - top }
  package var area: Double { width * height }

  var isFinite: Bool { left.isFinite && top.isFinite && right.isFinite && bottom.isFinite }

  /// Intersection over union: |A ∩ B| / |A ∪ B|, or 0 if both are empty; |A ∩ B| / |A| if `other`
  /// is a crowd.
  package func overlap(_ other: Box, isCrowd: Bool = false) -> Double {
    let across = min(right, other.right) - max(left, other.left)
    let down = min(bottom, other.bottom) - max(top, other.top)
    guard across > 0, down > 0 else { return 0 }
    let common = across * down
    let union = isCrowd ? area : area + other.area - common
    return union > 0 ? common / union : 0
  }

  /// The part inside `width` × `height`; nil if it is empty.
  package func clipped(width: Double, height: Double) -> Box? {
    let box = Box(
      left: max(0, left), top: max(0, top), right: min(width, right), bottom: min(height, bottom))
    return box.width > 0 && box.height > 0 ? box : nil
  }
}

/// An object that a network found in an image.
package struct DetectedObject: Sendable, Equatable {
  /// The box in fractions of the model's image, or in pixels of the image from which that was made.
  package var box: Box
  /// The class index from 0, not counting a background class.
  package let classIndex: Int
  /// The score, in 0…1.
  package let score: Double
}
