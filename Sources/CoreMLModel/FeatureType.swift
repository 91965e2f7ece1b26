/// The type of a feature.
public struct FeatureType: SpecificationMessage {
  public enum Kind: Sendable, Equatable {
    case int64
    case double
    case string
    case image(ImageFeatureType)
    case multiArray(ArrayFeatureType)
    case dictionary(DictionaryKey?)
    /// Sequences and later kinds, untouched.
    case opaque(OpaqueMessage)
  }

  public enum DictionaryKey: Sendable, Equatable {
    case int64
    case string
  }

  public var kind: Kind?
  public var isOptional = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// An image of fixed or flexible size.
public struct ImageFeatureType: SpecificationMessage {
  public enum ColorSpace: Int, Sendable, CaseIterable {
    case invalid = 0
    case grayscale = 10
    case rgb = 20
    case bgr = 30
    case grayscaleFloat16 = 40

    /// Channels of the tensor that the network sees.
    public var channelCount: Int {
      switch self {
      case .invalid: 0
      case .grayscale, .grayscaleFloat16: 1
      case .rgb, .bgr: 3
      }
    }
  }

  public enum Flexibility: Sendable, Equatable {
    case enumerated([ImageSize])
    case range(width: SizeRange?, height: SizeRange?)
  }

  public var width = 0
  public var height = 0
  public var colorSpace = ColorSpace.invalid
  public var flexibility: Flexibility?
  public var unknownFields = UnknownFields()

  public init() {}

  public init(width: Int, height: Int, colorSpace: ColorSpace) {
    self.width = width
    self.height = height
    self.colorSpace = colorSpace
  }
}

public struct ImageSize: SpecificationMessage {
  public var width = 0
  public var height = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Bounds of a size; `upperBound` −1 means unbounded.
public struct SizeRange: SpecificationMessage {
  public var lowerBound = 0
  public var upperBound = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// A multi-dimensional array.
public struct ArrayFeatureType: SpecificationMessage {
  public enum DataType: Int, Sendable, CaseIterable {
    case invalid = 0
    case float16 = 65552
    case float32 = 65568
    case double = 65600
    case int8 = 131080
    case int32 = 131104
  }

  public enum Flexibility: Sendable, Equatable {
    case enumerated([[Int]])
    case range([SizeRange])
  }

  public enum DefaultValue: Sendable, Equatable {
    case int(Int)
    case float(Float)
    case double(Double)
  }

  public var shape: [Int] = []
  public var dataType = DataType.invalid
  public var flexibility: Flexibility?
  public var defaultValue: DefaultValue?
  public var unknownFields = UnknownFields()

  public init() {}

  public init(shape: [Int], dataType: DataType) {
    self.shape = shape
    self.dataType = dataType
  }
}
