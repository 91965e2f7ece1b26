import CoreMLModel
import ImportSupport

/// out = activation(normalized(matrix · in) + bias), where in is the output of the previous layer
/// as a vector, in the order channels, rows, columns.
struct ConnectedLayer: DarknetLayer {
  static let source = SourceLayer(
    "connected", "conn", becomes: "flatten, innerProduct, batchnorm, activation")
  static let options = ["output", "batch_normalize", "activation"]

  private let outputs: Int
  private let isNormalized: Bool
  private let activation: ActivationFunction

  init(_ section: ConfigurationSection) throws {
    outputs = try section.int("output", default: 1, in: 1...WindowOptions.filterLimit)
    isNormalized = try section.bool("batch_normalize")
    activation = ActivationFunction(section, default: "logistic")
  }

  func convert(_ call: SectionCall, into network: inout DarknetNetwork) throws -> DarknetTensor {
    let input = try call.input
    let bias = try network.weights.take("biases", [outputs], layer: call.name)
    let isTransposed = network.weights.storesTransposedMatrices
    var matrix = try network.weights.take(
      "weights", isTransposed ? [input.count, outputs] : [outputs, input.count],
      fanIn: input.count, layer: call.name)
    if isTransposed { matrix = matrix.transposed([1, 0]) }
    let normalization =
      isNormalized ? try Normalization(outputs, from: &network, call) : nil
    var product = InnerProduct()
    product.inputChannels = input.count
    product.outputChannels = outputs
    product.matrix = Weights(matrix)
    product.hasBias = normalization == nil
    if normalization == nil { product.bias = Weights(bias) }
    var blob = network.add(call.name, product, [network.flattened(input, for: call.name)])
    if let normalization {
      blob = network.add(
        call.name + "__batch_normalize__", normalization.layer(bias: bias), [blob])
    }
    return try network.activate(activation, DarknetTensor(blob, outputs, 1, 1), call)
  }
}
