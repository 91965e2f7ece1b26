/// What happens to an image between its file and the model.
public struct ImageOptions: Sendable, Equatable {
  /// How an image is brought into the network's size.
  public var fitting = Fitting.exact
  /// With which filter it is resized.
  public var interpolation = Interpolation.bilinear
  /// Whether the image is turned as its file's Exif data say.
  public var appliesOrientation = false
  /// The side of a square that the image is brought into first; the model gets parts of that.
  public var firstSide: Int?
  /// Which parts of the square.
  public var crops = Crops.center

  /// The names are the metadata's.
  public enum Crops: String, CaseIterable, Sendable {
    /// The one in the middle, from `⌊(side − size) / 2⌋` on.
    case center
    /// Those in the corners and the one in the middle, then the mirrored ones of the same five; the
    /// model's answers are averaged.
    case ten
  }

  /// An image has to have the network's size.
  public init() {}

  /// Another way into the model's size; parts of a square go with the old one.
  public mutating func bring(into fitting: Fitting) {
    self.fitting = fitting
    firstSide = nil
    crops = .center
  }
}

/// What other programs do with an image before a network gets it; the names are the command line's.
public enum ImageRecipe: String, CaseIterable, Sendable {
  /// Keras's `load_img` with a `target_size` and its defaults: each axis by itself, the nearest
  /// samples.
  case kerasLoadImage = "keras-load-img"
  /// Caffe's `classify.py --center_only`: into 256 × 256, of which the middle is taken.
  case caffeClassify = "caffe-classify"
  /// Caffe's `classify.py` as it stands: the mean of what ten parts of the 256 × 256 give.
  case caffeClassifyTen = "caffe-classify-ten"
  /// Vision's `centerCrop`, its default, of the image as it was seen.
  case visionCenterCrop = "vision-center-crop"

  /// What the recipe does.
  public var options: ImageOptions {
    var options = ImageOptions()
    switch self {
    case .kerasLoadImage:
      options.fitting = .squash
      options.interpolation = .nearest
    case .caffeClassify, .caffeClassifyTen:
      options.fitting = .squash
      options.interpolation = .tensorFlowBilinear
      options.firstSide = 256
      options.crops = self == .caffeClassify ? .center : .ten
    case .visionCenterCrop:
      options.fitting = .centerCrop
      options.appliesOrientation = true
    }
    return options
  }
}

extension ImageOptions: CustomStringConvertible {
  /// All of it in one line.
  public var description: String {
    var text = "resize \(fitting.rawValue)"
    if let firstSide {
      text += " to \(firstSide)×\(firstSide), of that "
      text += crops == .center ? "the center" : "ten crops, whose predictions are averaged"
    }
    return text + "; interpolation \(interpolation.rawValue)"
      + "; exif \(appliesOrientation ? "apply" : "ignore")"
  }
}
