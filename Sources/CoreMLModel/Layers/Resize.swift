/// Enlarges H and W by whole (or, since specification 5, fractional) factors.
public struct Upsample: LayerParameters {
  public enum InterpolationMode: Int, Sendable, CaseIterable {
    case nearest = 0
    case bilinear = 1
  }

  public enum LinearUpsampleMode: Int, Sendable, CaseIterable {
    case `default` = 0
    case alignCornersTrue = 1
    case alignCornersFalse = 2
  }

  public static let typeName = "upsample"

  public var scalingFactor: [Int] = []
  public var fractionalScalingFactor: [Float] = []
  public var mode = InterpolationMode.nearest
  public var linearUpsampleMode = LinearUpsampleMode.default
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Where a resampling grid lies.
public enum SamplingMethod: Int, Sendable, CaseIterable {
  case strictAlignEndpoints = 0
  case alignEndpoints = 1
  case upsample = 2
  case roiAlign = 3
}

/// Bilinear resize to a given size.
public struct ResizeBilinear: LayerParameters {
  public static let typeName = "resizeBilinear"
  public static let specificationVersion = 3

  /// `[H, W]`
  public var targetSize: [Int] = []
  public var mode: SamplingMethod?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Cuts boxes out of an image and resizes each: inputs are the image and the boxes.
public struct CropResize: LayerParameters {
  public enum BoxCoordinates: Int, Sendable, CaseIterable {
    case cornersHeightFirst = 0
    case cornersWidthFirst = 1
    case centerSizeHeightFirst = 2
    case centerSizeWidthFirst = 3
  }

  public static let typeName = "cropResize"
  public static let specificationVersion = 3
  public static let inputCount = 2...2

  public var targetSize: [Int] = []
  public var normalizedCoordinates = false
  public var mode: SamplingMethod?
  public var boxIndicesMode: BoxCoordinates?
  public var spatialScale: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Upsample: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("scalingFactor", \.scalingFactor),
    .floats("fractionalScalingFactor", \.fractionalScalingFactor),
    .value("mode", \.mode),
    .value("linearUpsampleMode", \.linearUpsampleMode),
  ]
}

extension ResizeBilinear: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("targetSize", \.targetSize),
    .value("mode", in: "samplingMethod", \.mode),
  ]
}

extension CropResize: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("targetSize", \.targetSize),
    .bool("normalizedCoordinates", \.normalizedCoordinates),
    .value("mode", in: "samplingMethod", \.mode),
    .value("boxIndicesMode", in: "boxMode", \.boxIndicesMode),
    .float("spatialScale", \.spatialScale),
  ]
}
