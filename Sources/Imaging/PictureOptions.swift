/// What happens to a picture between its file and the model.
public struct PictureOptions: Sendable, Equatable {
  public var fitting = Fitting.exact
  public var interpolation = Interpolation.bilinear
  /// Whether the picture is turned as its file's Exif data say.
  public var appliesOrientation = false

  public init() {}
}
