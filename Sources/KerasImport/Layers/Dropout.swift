import ImportSupport

/// Layers that are active only in training: their output is their input.
struct Dropout: KerasLayer {
  static let classes = [
    SourceLayer(
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
  ]
  static let maskPolicy = MaskPolicy.passes
  static let vanishes = true

  /// The classes that are random in training.
  static let randomNames = Set(classNames).subtracting([
    "ActivityRegularization", "ActivityRegularizer", "GradientReversal", "Identity",
  ])

  var leadingAxes: LeadingAxesPolicy { .keeps }

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try call.input]
  }
}
