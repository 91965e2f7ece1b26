import CoreMLModel
import ImportSupport

/// gamma · x along the channels, from ConvNeXt.
enum LayerScale: KerasLayer {
  static let classes = [SourceLayer("LayerScale", becomes: "scale", options: "from ConvNeXt")]

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    conversion([WeightSlot("gamma")]) { call, network in
      let input = try call.input
      let gamma = try call.weight("gamma", [input.channels])
      return [
        network.add(call.name, Scale(Weights(gamma), gamma.shape), to: input, along: input.rank - 1)
      ]
    }
  }
}
