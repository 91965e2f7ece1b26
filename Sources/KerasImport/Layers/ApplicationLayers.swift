import CoreMLModel
import ImportSupport

// Layers that networks of `keras.applications` define.

/// x₀ + scale · x₁, from Inception-ResNet v2.
struct CustomScaleLayer: KerasLayer {
  static let classes = [SourceLayer](
    "CustomScaleLayer", becomes: "linear activation, add",
    options: "`scale`; from Inception-ResNet v2")

  private let scale: Double

  init(_ configuration: LayerConfiguration) throws {
    scale = try configuration.double("scale", default: 1)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (inputs, result) = try network.merged(call)
    try call.require(inputs.count == 2, "it takes two inputs but gets \(inputs.count)")
    let scaled = network.affine(inputs[1].blob, Float(scale), 0, call.name + "__scale__")
    return [result.with(network.sum([inputs[0].blob, scaled], call.name))]
  }
}

/// (x + 1) · 127.5, from the style networks of fritz.ai.
struct DeprocessStylizedImage: KerasLayer {
  static let classes = [SourceLayer](
    "DeprocessStylizedImage", becomes: "linear activation",
    options: "(x + 1) · 127.5, from fritz.ai's style networks")

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    return [input.with(network.affine(input.blob, 127.5, 127.5, call.name))]
  }
}

/// gamma · x along the channels, from ConvNeXt.
struct LayerScale: KerasLayer {
  static let classes = [SourceLayer("LayerScale", becomes: "scale", options: "from ConvNeXt")]

  init(_ configuration: LayerConfiguration) throws {}

  var weights: [WeightSlot] { [WeightSlot("gamma")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    let gamma = try call.weight("gamma", [input.channels])
    return [
      network.add(
        call.name, Scale(Weights(gamma), gamma.shape), to: input, along: input.rank - 1)
    ]
  }
}
