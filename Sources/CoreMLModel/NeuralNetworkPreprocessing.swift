/// What happens to an image before the first layer sees it.
public struct NeuralNetworkPreprocessing: SpecificationMessage {
  public enum Preprocessor: Sendable, Equatable {
    case scaler(NeuralNetworkImageScaler)
    case meanImage(NeuralNetworkMeanImage)
  }

  /// The input feature; empty means the first image input.
  public var featureName = ""
  public var preprocessor: Preprocessor?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// y = channelScale · x + bias of the channel's colour.
public struct NeuralNetworkImageScaler: SpecificationMessage {
  public var channelScale: Float = 0
  public var blueBias: Float = 0
  public var greenBias: Float = 0
  public var redBias: Float = 0
  public var grayBias: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// y = x − mean, one value for each of C·H·W.
public struct NeuralNetworkMeanImage: SpecificationMessage {
  public var meanImage: [Float] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

extension NeuralNetworkPreprocessing: EncodedMessage {
  static let fields: [Field<Self>] = [
    .string("featureName", \.featureName),
    .choice(
      \.preprocessor,
      [
        .message(
          "scaler", { .scaler($0) }, { if case .scaler(let value) = $0 { value } else { nil } }),
        .message(
          "meanImage", { .meanImage($0) },
          { if case .meanImage(let value) = $0 { value } else { nil } }),
      ]),
  ]
}

extension NeuralNetworkImageScaler: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("channelScale", \.channelScale),
    .float("blueBias", \.blueBias),
    .float("greenBias", \.greenBias),
    .float("redBias", \.redBias),
    .float("grayBias", \.grayBias),
  ]
}

extension NeuralNetworkMeanImage: EncodedMessage {
  static let fields: [Field<Self>] = [
    .floats("meanImage", \.meanImage)
  ]
}
