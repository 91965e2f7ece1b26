import CoreMLModel
import ImportSupport

/// gamma · x along the channels, from ConvNeXt.
struct LayerScale: KerasLayerSettings {
  static let classes = [SourceLayer("LayerScale", becomes: "scale", options: "from ConvNeXt")]

  init(_ configuration: LayerConfiguration) throws {}

  var weights: [WeightSlot] { [WeightSlot("gamma")] }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let input = try call.input
    let gamma = try call.weight("gamma", [input.channels])
    return [
      network.add(call.name, Scale(Weights(gamma), gamma.shape), to: input, along: input.rank - 1)
    ]
  }
}
