/// The sum of the inputs; with one input, x + alpha.
public struct Add: LayerParameters {
  public static let typeName = "add"
  public static let inputCount = 1...Int.max

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The product of the inputs; with one input, x · alpha.
public struct Multiply: LayerParameters {
  public static let typeName = "multiply"
  public static let inputCount = 1...Int.max

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The mean of the inputs.
public struct Average: LayerParameters {
  public static let typeName = "average"
  public static let inputCount = 1...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}

/// The largest of the inputs.
public struct Max: LayerParameters {
  public static let typeName = "max"
  public static let inputCount = 1...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}

/// The smallest of the inputs.
public struct Min: LayerParameters {
  public static let typeName = "min"
  public static let inputCount = 1...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}

/// Σ over the channels of the product of two inputs, or the cosine of the angle between them.
public struct DotProduct: LayerParameters {
  public static let typeName = "dot"
  public static let inputCount = 2...2

  public var cosineSimilarity = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Add: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("alpha", \.alpha)
  ]
}

extension Multiply: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("alpha", \.alpha)
  ]
}

extension Average: EncodedMessage {
  static let fields: [Field<Self>] = []
}

extension Max: EncodedMessage {
  static let fields: [Field<Self>] = []
}

extension Min: EncodedMessage {
  static let fields: [Field<Self>] = []
}

extension DotProduct: EncodedMessage {
  static let fields: [Field<Self>] = [
    .bool("cosineSimilarity", \.cosineSimilarity)
  ]
}
