/// scale · x + bias; the shapes are `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]`.
public struct Scale: LayerParameters {
  public static let typeName = "scale"

  public var shapeScale: [Int] = []
  public var scale: Weights?
  public var hasBias = false
  public var shapeBias: [Int] = []
  public var bias: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// x + bias; the shape is `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]`.
public struct Bias: LayerParameters {
  public static let typeName = "bias"

  public var shape: [Int] = []
  public var bias: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// A constant `[C, H, W]`.
public struct LoadConstant: LayerParameters {
  public static let typeName = "loadConstant"
  public static let inputCount = 0...0

  public var shape: [Int] = []
  public var data: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Scale: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("shapeScale", \.shapeScale),
    .message("scale", \.scale),
    .bool("hasBias", \.hasBias),
    .ints("shapeBias", \.shapeBias),
    .message("bias", \.bias),
  ]
}

extension Bias: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("shape", \.shape),
    .message("bias", \.bias),
  ]
}

extension LoadConstant: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("shape", \.shape),
    .message("data", \.data),
  ]
}
