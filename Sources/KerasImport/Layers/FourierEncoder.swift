import ByteFormats
import CoreMLModel
import ImportSupport
import LibC
import TensorCore

/// The real part of a two-dimensional Fourier transform and a network of two matrices, each added to
/// its input, with a normalization behind each.
///
/// The real part is C · x · C − S · x · S, with the cosines and sines of 2π · row · column / size.
/// Source: keras-hub 0.32, `f_net_encoder.py`.
struct FourierEncoder: KerasLayer {
  static let classes = [SourceLayer](
    "FNetEncoder", becomes: "innerProducts, 1 × 1 convolutions, add",
    options: "`intermediate_dim`, `activation`; from keras-hub",
    refused: "more than 2048 steps or channels")
  static let maskPolicy = MaskPolicy.passes

  private static let sizeLimit = 2048

  private let hidden: Int
  private let activation: JSONValue
  private let epsilon: Double

  init(_ configuration: LayerConfiguration) throws {
    hidden = try configuration.int("intermediate_dim")
    activation = configuration.field("activation")?.value ?? .string("relu")
    epsilon = try configuration.double("layer_norm_epsilon", default: 1e-5)
  }

  /// In the order of the groups in a `.keras` file.
  var weights: [WeightSlot] {
    WeightSlot.matrices("output", "intermediate")
      + WeightSlot.inside("mixing_norm", "gamma", "beta")
      + WeightSlot.inside("output_norm", "gamma", "beta")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (input, steps, channels) = try call.sequence()
    try call.require(
      max(steps, channels) <= Self.sizeLimit && min(steps, channels) > 0,
      unsupported: "a Fourier transform of \(input.shapeText) is not supported")
    var parts: [KerasTensor] = []
    for (name, wave) in [("cosines", cos), ("sines", sin)] as [(String, (Double) -> Double)] {
      let name = "\(call.name)__\(name)__"
      let inner = network.channelProduct(
        input, Self.matrix(channels, wave), inputs: channels, outputs: channels, name + "channels__"
      )
      parts.append(
        network.settled(
          network.axisProduct(
            inner, axis: 1, Self.matrix(steps, wave), inputs: steps, outputs: steps, name),
          for: name))
    }
    let transformed = try call.part("Subtract", parts, "transformed", &network)
    let sum = try call.part("Add", [input, transformed], "mixed", &network)
    let mixed = try call.normalized(sum, "mixing_norm", epsilon: epsilon, &network)
    var inner = try call.dense(mixed, "intermediate", hidden, activation: activation, &network)
    inner = try call.dense(inner, "output", channels, &network)
    let result = try call.part("Add", [mixed, inner], "sum", &network)
    return [try call.normalized(result, "output_norm", epsilon: epsilon, &network)]
  }

  private static func matrix(_ size: Int, _ wave: (Double) -> Double) -> Weights {
    Weights(
      (0..<size).flatMap { row in
        (0..<size).map { Float(wave(2 * Double.pi * Double(row * $0 % size) / Double(size))) }
      })
  }
}
