/// The type of a feature.
public struct FeatureType: EncodedMessage {
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
  package var unknownFields = UnknownFields()

  public init() {}

  package static let fields: Fields = [
    .choice(
      \.kind,
      [
        .empty("int64Type", .int64),
        .empty("doubleType", .double),
        .empty("stringType", .string),
        .message(
          "imageType", { .image($0) }, { if case .image(let value) = $0 { value } else { nil } }),
        .message(
          "multiArrayType", { .multiArray($0) },
          { if case .multiArray(let value) = $0 { value } else { nil } }),
        .flat(
          "dictionaryType",
          read: { reader in
            if reader.isChosen("int64KeyType") {
              _ = try reader.nested("int64KeyType")
              return .dictionary(.int64)
            }
            return .dictionary(try reader.nested("stringKeyType") == nil ? nil : .string)
          }, { if case .dictionary(let key) = $0 { .some(key) } else { nil } },
          write: { key, writer in
            switch key {
            case .int64: try writer.nested("int64KeyType").finish()
            case .string: try writer.nested("stringKeyType").finish()
            case nil: break
            }
          }),
      ],
      opaque: ({ .opaque($0) }, { if case .opaque(let message) = $0 { message } else { nil } })),
    .bool("isOptional", \.isOptional),
  ]
}

/// An image of fixed or flexible size.
public struct ImageFeatureType: EncodedMessage {
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
  package var unknownFields = UnknownFields()

  public init() {}

  public init(width: Int, height: Int, colorSpace: ColorSpace) {
    self.width = width
    self.height = height
    self.colorSpace = colorSpace
  }

  package static let fields: Fields = [
    .int("width", \.width),
    .int("height", \.height),
    .value("colorSpace", \.colorSpace),
    .choice(
      \.flexibility,
      [
        .flat(
          "enumeratedSizes", read: { .enumerated(try $0.messages("sizes")) },
          { if case .enumerated(let sizes) = $0 { sizes } else { nil } },
          write: { try $1.set("sizes", $0) }),
        .flat(
          "imageSizeRange",
          read: {
            .range(width: try $0.message("widthRange"), height: try $0.message("heightRange"))
          },
          { if case .range(let width, let height) = $0 { (width, height) } else { nil } },
          write: {
            try $1.set("widthRange", $0.0)
            try $1.set("heightRange", $0.1)
          }),
      ]),
  ]
}

public struct ImageSize: EncodedMessage {
  public var width = 0
  public var height = 0
  package var unknownFields = UnknownFields()

  public init() {}

  public init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  package static let fields: Fields = [.int("width", \.width), .int("height", \.height)]
}

/// Bounds of a size; `upperBound` −1 means unbounded.
public struct SizeRange: EncodedMessage {
  public var lowerBound = 0
  public var upperBound = 0
  package var unknownFields = UnknownFields()

  public init() {}

  public init(_ lowerBound: Int, _ upperBound: Int) {
    self.lowerBound = lowerBound
    self.upperBound = upperBound
  }

  package static let fields: Fields = [
    .int("lowerBound", \.lowerBound),
    .int("upperBound", \.upperBound),
  ]
}

/// A multi-dimensional array.
public struct ArrayFeatureType: EncodedMessage {
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
  package var unknownFields = UnknownFields()

  public init() {}

  public init(shape: [Int], dataType: DataType) {
    self.shape = shape
    self.dataType = dataType
  }

  package static let fields: Fields = [
    .ints("shape", \.shape),
    .value("dataType", \.dataType),
    .choice(
      \.flexibility,
      [
        .flat(
          "enumeratedShapes",
          read: { .enumerated(try $0.nestedArray("shapes").map { try $0.ints("shape") }) },
          { if case .enumerated(let shapes) = $0 { shapes } else { nil } },
          write: { shapes, writer in
            try writer.nestedArray("shapes", count: shapes.count) {
              try $1.set("shape", shapes[$0])
            }
          }),
        .flat(
          "shapeRange", read: { .range(try $0.messages("sizeRanges")) },
          { if case .range(let ranges) = $0 { ranges } else { nil } },
          write: { try $1.set("sizeRanges", $0) }),
      ]),
    .choice(
      \.defaultValue,
      [
        .plain(
          "intDefaultValue", { .int(try $0.int("intDefaultValue")) },
          { if case .int(let value) = $0 { value } else { nil } },
          { try $0.set("intDefaultValue", $1) }),
        .plain(
          "floatDefaultValue", { .float($0.float("floatDefaultValue")) },
          { if case .float(let value) = $0 { value } else { nil } },
          { $0.set("floatDefaultValue", $1 as Float) }),
        .plain(
          "doubleDefaultValue", { .double($0.double("doubleDefaultValue")) },
          { if case .double(let value) = $0 { value } else { nil } },
          { $0.set("doubleDefaultValue", $1 as Double) }),
      ]),
  ]
}
