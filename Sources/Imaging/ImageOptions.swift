/// How an image file becomes the model's input.
public struct ImageOptions: Sendable, Equatable {
  /// How an image is fitted to the network's size.
  public var fitting = Fitting.exact
  /// The filter used for resizing.
  public var interpolation = Interpolation.bilinear
  /// Whether the image is rotated according to the Exif data of its file.
  public var appliesOrientation = false
  /// The side of a square to which the image is resized first; the model receives its center, which
  /// starts at `⌊(side − size) / 2⌋`.
  public var firstSide: Int?

  /// No resizing: the image must have the network's size.
  public init() {}

  /// Replaces the fitting of the image, and resets the first square.
  public mutating func bring(into fitting: Fitting) {
    self.fitting = fitting
    firstSide = nil
  }
}

/// How other programs prepare an image for a network; the names are those of the command line.
public enum ImageRecipe: String, CaseIterable, Sendable {
  /// Keras's `load_img` with a `target_size` and defaults otherwise: resizes each axis
  /// independently, with nearest-neighbor interpolation.
  case kerasLoadImage = "keras-load-img"
  /// Caffe's `classify.py --center_only`: resizes to 256 × 256 and crops to the center.
  case caffeClassify = "caffe-classify"
  /// Vision's default, `centerCrop`, with the image upright.
  case visionCenterCrop = "vision-center-crop"

  /// The options of the recipe.
  public var options: ImageOptions {
    var options = ImageOptions()
    switch self {
    case .kerasLoadImage:
      options.fitting = .squash
      options.interpolation = .nearest
    case .caffeClassify:
      options.fitting = .squash
      options.interpolation = .tensorFlowBilinear
      options.firstSide = 256
    case .visionCenterCrop:
      options.fitting = .centerCrop
      options.appliesOrientation = true
    }
    return options
  }
}

extension ImageOptions: CustomStringConvertible {
  /// All options on one line.
  public var description: String {
    var text = "resize \(fitting.rawValue)"
    if let firstSide { text += " to \(firstSide)×\(firstSide), then the center" }
    return text + "; interpolation \(interpolation.rawValue)"
      + "; exif \(appliesOrientation ? "apply" : "ignore")"
  }
}
