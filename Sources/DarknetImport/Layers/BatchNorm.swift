import ImportSupport
import TensorCore

/// scale · (x − mean) / √(variance + 10⁻⁵) + bias; the bias is 0 if it is not in the file.
struct BatchNormLayer: DarknetLayer {
  static let source = SourceLayer("batchnorm", becomes: "batchnorm")
  static let options: [String] = []

  init(_ section: ConfigurationSection) throws {}

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let channels = input.channels
    let bias =
      network.storesBatchnormBiases
      ? try network.weights.take("biases", [channels], layer: call.name)
      : FloatValues(repeating: 0, shape: [channels])
    let normalization = try Normalization(channels, from: &network, call)
    return input.with(network.add(call.name, normalization.layer(bias: bias), [input.blob]))
  }
}
