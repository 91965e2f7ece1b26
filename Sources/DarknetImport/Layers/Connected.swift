import CoreMLModel
import ImportSupport

/// out = activation(normalized(matrix · in) + bias), where in is the output of the previous layer
/// flattened in the order channels, rows, columns.
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

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.input
    let weights = try ConnectedWeights(
      [outputs, input.count], isNormalized: isNormalized, call.name, call, &network)
    let blob = network.add(weights, network.flattened(input, for: call.name))
    return try network.activate(activation, DarknetTensor(blob, outputs, 1, 1), call)
  }
}

/// A matrix and its bias or normalization, as stored in the file.
struct ConnectedWeights: Sendable {
  fileprivate let name: String
  fileprivate let product: InnerProduct
  fileprivate let normalization: Batchnorm?

  /// - Parameter name: the name of the layer.
  init(
    _ shape: [Int], isNormalized: Bool, _ name: String, _ call: LayerCall,
    _ network: inout DarknetWriter
  ) throws {
    let (outputs, inputs) = (shape[0], shape[1])
    let bias = try network.weights.take("biases", [outputs], layer: name)
    let isTransposed = network.weights.storesTransposedMatrices
    var matrix = try network.weights.take(
      "weights", isTransposed ? [inputs, outputs] : shape, fanIn: inputs, layer: name)
    if isTransposed { matrix = matrix.transposed([1, 0]) }
    normalization =
      isNormalized ? try Normalization(outputs, from: &network, call).layer(bias: bias) : nil
    var product = InnerProduct()
    product.inputChannels = inputs
    product.outputChannels = outputs
    product.matrix = Weights(matrix)
    product.hasBias = normalization == nil
    if normalization == nil { product.bias = Weights(bias) }
    self.product = product
    self.name = name
  }
}

extension DarknetWriter {
  /// Adds the product of a matrix and a vector.
  mutating func add(_ weights: ConnectedWeights, _ input: String) -> String {
    let blob = add(weights.name, weights.product, [input])
    guard let normalization = weights.normalization else { return blob }
    return add(weights.name + "__batch_normalize__", normalization, [blob])
  }
}
