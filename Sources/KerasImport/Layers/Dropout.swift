/// Layers that act in training only: their output is their input.
struct Dropout: KerasLayer {
  static let classNames = [
    "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianNoise",
    "GaussianDropout", "AlphaDropout", "ActivityRegularization", "ActivityRegularizer",
    "StochasticDepth",
  ]
  static let vanishes = true

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try call.input]
  }
}
