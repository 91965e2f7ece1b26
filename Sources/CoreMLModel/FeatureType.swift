/// The type of a feature.
public struct FeatureType: SpecificationMessage {
  package enum Kind: Sendable, Equatable {
    case int64
    case double
    case string
    case image(ImageFeatureType)
    case multiArray(ArrayFeatureType)
    case dictionary(DictionaryKey?)
    /// An array that the model keeps from one prediction to the next.
    case state(ArrayFeatureType)
    /// Sequences and later kinds, carried through.
    case opaque(OpaqueMessage)
  }

  package enum DictionaryKey: Sendable, Equatable {
    case int64
    case string
  }

  package var kind: Kind?
  /// Whether the feature is optional in a prediction.
  public var isOptional = false
  package var unknownFields = UnknownFields()

  /// Whether it has several shapes or sizes.
  package var isFlexible: Bool {
    switch kind {
    case .multiArray(let array): array.flexibility != nil
    case .image(let image): image.flexibility != nil
    default: false
    }
  }

  /// Whether it is an array of integers.
  package var isWhole: Bool {
    guard case .multiArray(let array)? = kind else { return false }
    return [.int8, .int32].contains(array.dataType)
  }

  /// How a result of this shape contradicts the declared sizes, ignoring axes of length 1; nil if
  /// it does not.
  ///
  /// - Parameters:
  ///   - isRank5: whether the shape is `[Seq, Batch, C, H, W]`.
  ///   - producer: the part of the model that produces the result.
  package func contradiction(_ shape: [Int], isRank5: Bool, of producer: String) -> String? {
    let declared: [Int]
    switch kind {
    case .multiArray(let array)? where array.flexibility == nil: declared = array.shape
    case .image(let image)? where image.flexibility == nil:
      declared = [image.colorSpace.channelCount, image.height, image.width]
    default: return nil
    }
    guard !declared.isEmpty, declared.allSatisfy({ $0 > 0 }) else { return nil }
    let given = isRank5 ? shape.suffix(3) : shape
    let compared = isRank5 ? declared.suffix(3) : declared
    let sizes = given.filter { $0 != 1 }
    guard sizes != compared.filter({ $0 != 1 }) else { return nil }
    return "it declares the shape \(declared), but \(producer) gives "
      + "\(isRank5 && declared.count == 1 ? sizes : given)"
  }

  /// Creates a feature without a type.
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
        .flat(
          "stateType", read: { .state(try $0.message("arrayType") ?? ArrayFeatureType()) },
          { if case .state(let array) = $0 { array } else { nil } },
          write: { try $1.set("arrayType", $0) }),
      ],
      opaque: ({ .opaque($0) }, { if case .opaque(let message) = $0 { message } else { nil } })),
    .bool("isOptional", \.isOptional),
  ]
}

/// An image of fixed or flexible size.
public struct ImageFeatureType: SpecificationMessage {
  /// The order and number of colors, with the specification's numbers.
  public enum ColorSpace: Int, Sendable, CaseIterable {
    /// Not set.
    case invalid = 0
    /// One channel, 0 to 255.
    case grayscale = 10
    /// Red, green, blue.
    case rgb = 20
    /// Blue, green, red.
    case bgr = 30
    /// One channel of 16-bit floats.
    case grayscaleFloat16 = 40

    /// The number of channels of the network's tensor.
    public var channelCount: Int {
      switch self {
      case .invalid: 0
      case .grayscale, .grayscaleFloat16: 1
      case .rgb, .bgr: 3
      }
    }
  }

  package enum Flexibility: Sendable, Equatable {
    case enumerated([ImageSize])
    case range(width: SizeRange?, height: SizeRange?)
  }

  /// Width in pixels; for a flexible image the default.
  public var width = 0
  /// Height in pixels; for a flexible image the default.
  public var height = 0
  /// The color order of the network's tensor.
  public var colorSpace = ColorSpace.invalid
  package var flexibility: Flexibility?
  package var unknownFields = UnknownFields()

  /// Creates an image without a size.
  public init() {}

  package init(width: Int, height: Int, colorSpace: ColorSpace) {
    (self.width, self.height, self.colorSpace) = (width, height, colorSpace)
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

package struct ImageSize: SpecificationMessage {
  package var width = 0
  package var height = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package init(_ width: Int, _ height: Int) {
    (self.width, self.height) = (width, height)
  }

  package static let fields: Fields = [.int("width", \.width), .int("height", \.height)]
}

/// Bounds of a size; `upperBound` −1 means unbounded.
package struct SizeRange: SpecificationMessage {
  package var lowerBound = 0
  package var upperBound = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package init(_ lowerBound: Int, _ upperBound: Int) {
    (self.lowerBound, self.upperBound) = (lowerBound, upperBound)
  }

  package func contains(_ size: Int) -> Bool {
    size >= lowerBound && (upperBound < 0 || size <= upperBound)
  }

  package static let fields: Fields = [
    .int("lowerBound", \.lowerBound),
    .int("upperBound", \.upperBound),
  ]
}

/// A multi-dimensional array.
public struct ArrayFeatureType: SpecificationMessage {
  /// The type of the elements, with the specification's numbers.
  public enum DataType: Int, Sendable, CaseIterable {
    /// Not set.
    case invalid = 0
    /// 16-bit floats.
    case float16 = 65552
    /// 32-bit floats.
    case float32 = 65568
    /// 64-bit floats.
    case double = 65600
    /// 8-bit integers.
    case int8 = 131080
    /// 32-bit integers.
    case int32 = 131104
  }

  package enum Flexibility: Sendable, Equatable {
    case enumerated([[Int]])
    case range([SizeRange])
  }

  package enum DefaultValue: Sendable, Equatable {
    case int(Int)
    case float(Float)
    case double(Double)
  }

  /// The sizes of the axes; for a flexible array the default.
  public var shape: [Int] = []
  /// The type of the elements.
  public var dataType = DataType.invalid
  package var flexibility: Flexibility?
  package var defaultValue: DefaultValue?
  package var unknownFields = UnknownFields()

  /// Creates an array without a shape.
  public init() {}

  package init(shape: [Int], dataType: DataType) {
    (self.shape, self.dataType) = (shape, dataType)
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
