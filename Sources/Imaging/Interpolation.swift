import LibC

/// How samples are computed when an image is resized: Pillow's filters under Pillow's names, and
/// those of other libraries with a prefix.
public enum Interpolation: String, CaseIterable, Sendable {
  /// The sample of the pixel that contains the point.
  case nearest
  /// The mean of the samples within half a pixel.
  case box
  /// A triangle filter that extends one pixel to each side.
  case bilinear
  /// A Hamming-windowed sinc that extends one pixel to each side.
  case hamming
  /// A cubic filter with a = −1/2 that extends two pixels to each side.
  case bicubic
  /// sinc(x) · sinc(x / 3), which extends three pixels to each side.
  case lanczos
  /// `tf.image.resize` of TensorFlow 2 with defaults: no filter when the image shrinks, and samples
  /// are not rounded.
  case tensorFlowBilinear = "tf-bilinear"
  /// `cv2.resize` with `INTER_LINEAR` on 8-bit samples: like TensorFlow's, but rounded to 8 bits.
  case openCVBilinear = "opencv-bilinear"

  /// Half the width of the filter at scale 1; nil for interpolation without a filter.
  var support: Double? {
    switch self {
    case .nearest, .tensorFlowBilinear, .openCVBilinear: nil
    case .box: 0.5
    case .bilinear, .hamming: 1
    case .bicubic: 2
    case .lanczos: 3
    }
  }

  /// The filter's weight at a distance of `x` samples:
  ///
  ///     box       1                               for −½ < x ≤ ½
  ///     bilinear  1 − |x|                         for |x| < 1
  ///     hamming   sinc(x) (0.54 + 0.46 cos πx)    for |x| < 1
  ///     bicubic   Keys' cubic with a = −½         for |x| < 2
  ///     lanczos   sinc(x) sinc(x / 3)             for −3 ≤ x < 3
  func weight(_ x: Double) -> Double {
    switch self {
    case .nearest, .tensorFlowBilinear, .openCVBilinear: return x == 0 ? 1 : 0
    case .box: return x > -0.5 && x <= 0.5 ? 1 : 0
    case .bilinear: return max(0, 1 - abs(x))
    case .hamming:
      if x == 0 { return 1 }
      if abs(x) >= 1 { return 0 }
      let angle = abs(x) * .pi
      return sin(angle) / angle * (0.54 + 0.46 * cos(angle))
    case .bicubic:
      let a = -0.5
      let x = abs(x)
      if x < 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0
    case .lanczos: return x >= -3 && x < 3 ? Self.sinc(x) * Self.sinc(x / 3) : 0
    }
  }

  private static func sinc(_ x: Double) -> Double {
    if x == 0 { return 1 }
    let angle = x * .pi
    return sin(angle) / angle
  }
}
