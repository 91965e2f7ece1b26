/// Preprocessing of an image before the first layer.
package struct NeuralNetworkPreprocessing: SpecificationMessage {
  package enum Preprocessor: Sendable, Equatable {
    case scaler(NeuralNetworkImageScaler)
    case meanImage(NeuralNetworkMeanImage)
  }

  /// The input feature; empty means the first image input.
  package var featureName = ""
  package var preprocessor: Preprocessor?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
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

/// y = channelScale · x + bias of the channel's color.
package struct NeuralNetworkImageScaler: SpecificationMessage {
  package var channelScale: Float = 0
  package var blueBias: Float = 0
  package var greenBias: Float = 0
  package var redBias: Float = 0
  package var grayBias: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}

  /// The bias of each channel, in the order of the color space.
  package func biases(_ colorSpace: ImageFeatureType.ColorSpace) -> [Float] {
    switch colorSpace {
    case .rgb: [redBias, greenBias, blueBias]
    case .bgr: [blueBias, greenBias, redBias]
    default: [grayBias]
    }
  }

  package static let fields: Fields = [
    .float("channelScale", \.channelScale),
    .float("blueBias", \.blueBias),
    .float("greenBias", \.greenBias),
    .float("redBias", \.redBias),
    .float("grayBias", \.grayBias),
  ]
}

/// y = x − mean, with one value for each of C·H·W.
package struct NeuralNetworkMeanImage: SpecificationMessage {
  package var meanImage: [Float] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.floats("meanImage", \.meanImage)]
}
