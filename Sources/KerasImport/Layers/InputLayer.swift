import ImportSupport

/// An input of the model; inside a nested model it is only a name for what the model is given.
struct InputLayer: KerasLayer {
  static let classes = [SourceLayer("InputLayer", becomes: "nothing")]
  static let maskPolicy = MaskPolicy.passes
  static let vanishes = true

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try call.input]
  }
}
