import ImportSupport

/// An input of the model; inside a nested model, the name of an argument.
struct InputLayer: KerasLayerSettings {
  static let classes = [SourceLayer("InputLayer", becomes: "nothing")]
  static let maskPolicy = MaskPolicy.passes
  static let vanishes = true

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    [try call.input]
  }
}
