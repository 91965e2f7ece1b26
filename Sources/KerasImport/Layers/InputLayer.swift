import ImportSupport

/// An input of the model; inside a nested model, the name of an argument.
enum InputLayer: KerasLayer {
  static let classes = [SourceLayer("InputLayer", becomes: "nothing")]
  static let maskPolicy = MaskPolicy.passes
  static let vanishes = true

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    conversion { call, _ in
      [try call.input]
    }
  }
}
