import ImportSupport

/// Layers that are active only in training: at inference, they return their input.
enum Dropout: KerasLayer {
  static let classes = [SourceLayer](
    "Dropout", "GaussianNoise", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
    "GaussianDropout", "AlphaDropout", "ActivityRegularization", "ActivityRegularizer",
    "Identity", "RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation",
    "RandomContrast", "RandomBrightness", "RandomHeight", "RandomWidth", "RandomShear",
    "RandomPerspective", "RandomGrayscale", "RandomHue", "RandomSaturation", "RandomSharpness",
    "RandomColorJitter", "RandomColorDegeneration", "RandomErasing", "RandomGaussianBlur",
    "RandomInvert", "RandomPosterization", "RandomElasticTransform", "RandAugment", "AugMix",
    "CutMix", "MixUp", "StochasticDepth", "Solarization", "FixedDropout", "DropConnect",
    "DropBlock1D", "DropBlock2D", "GradientReversal",
    becomes: "nothing: these layers act in training only",
    refused: "calls with `training=True` in Keras 2, which are random")
  static let maskPolicy = MaskPolicy.passes
  static let vanishes = true

  /// The classes that are random during training.
  static let randomNames = Set(classNames).subtracting([
    "ActivityRegularization", "ActivityRegularizer", "GradientReversal", "Identity",
  ])
  static let leadingAxes = LeadingAxesPolicy.keeps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let (kind, version) = (configuration.kind, configuration.version)
    // Before version 2.4, Keras clamps the rate to this range.
    let isChecked =
      kind == "Dropout" || kind.hasPrefix("SpatialDropout")
      ? !version.isKnown || version.isAtLeast(2, 4)
      : ["AlphaDropout", "GaussianDropout", "GaussianNoise"].contains(kind)
        && version.isAtLeast(3, 0)
    if isChecked {
      _ = try configuration.double("rate", "p", "stddev", default: 0, atLeast: 0, atMost: 1)
    }
    // A class of keras_efficientnets.
    if kind == "DropConnect" { _ = try configuration.double("drop_connect_rate") }
    return conversion { call, _ in
      [try call.input]
    }
  }
}
