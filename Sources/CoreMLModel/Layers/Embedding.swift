/// out[o] = weights[o, in] + bias[o]; the input holds whole numbers.
public struct Embedding: LayerParameters {
  public static let typeName = "embedding"

  public var inputDim = 0
  public var outputChannels = 0
  public var hasBias = false
  /// `[outputChannels, inputDim]`
  public var matrix: Weights?
  public var bias: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Embedding: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputDim", \.inputDim),
    .int("outputChannels", \.outputChannels),
    .bool("hasBias", \.hasBias),
    .message("weights", \.matrix),
    .message("bias", \.bias),
  ]
}
