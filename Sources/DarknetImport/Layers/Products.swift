import CoreMLModel
import ImportSupport
import TensorCore

extension DarknetLayer {
  /// out = activation(normalized(matrix · in) + bias), where in is the output of the previous layer
  /// flattened in the order channels, rows, columns.
  static let connected = DarknetLayer(
    SourceLayer(
      "connected", "conn", becomes: "flatten, innerProduct, batchnorm, activation"),
    options: ["output", "batch_normalize", "activation"]
  ) { section in
    let outputs = try section.int("output", default: 1, in: 1...WindowOptions.filterLimit)
    let isNormalized = try section.bool("batch_normalize")
    let activation = ActivationFunction(section, default: "logistic")
    return { call, network in
      let input = try call.input
      let weights = try ConnectedWeights(
        [outputs, input.count], isNormalized: isNormalized, call.name, call, &network)
      let blob = network.add(weights, network.flattened(input, for: call.name))
      return try network.activate(activation, DarknetTensor(blob, outputs, 1, 1), call)
    }
  }

  /// Learned constants that do not depend on the input: `[filters, atoms, 1]`.
  static let implicit = DarknetLayer(
    SourceLayer("implicit", becomes: "loadConstant"), options: ["filters", "atoms"],
    trainingOptions: ["mean", "std"]
  ) { section in
    let filters = try section.int("filters", default: 128, in: 1...Limits.dimension)
    let atoms = try section.int("atoms", default: 1, in: 1...Limits.dimension)
    return { call, network in
      var constant = LoadConstant()
      constant.shape = [filters, atoms, 1]
      let values = try network.weights.take("weights", constant.shape, layer: call.name)
      constant.data = Weights(values)
      return try DarknetTensor(network.add(call.name, constant, []), filters, atoms, 1)
    }
  }

  /// An elementwise function.
  static let activation = DarknetLayer(
    SourceLayer("activation", becomes: "see the functions below"), options: ["activation"]
  ) { section in
    let activation = ActivationFunction(section, default: "linear")
    return { call, network in
      try network.activate(activation, call.input, call)
    }
  }

  /// 1 / (1 + e⁻ˣ), with a loss in training.
  static let logistic = DarknetLayer(SourceLayer("logistic", becomes: "activation sigmoid")) { _ in
    { call, network in
      try network.activate(ActivationFunction("logistic"), call.input, call)
    }
  }

  /// Has no effect outside of training.
  static let dropout = DarknetLayer(
    SourceLayer("dropout", becomes: "nothing"),
    trainingOptions: [
      "probability", "dropblock", "dropblock_size_abs", "dropblock_size_rel",
    ], vanishes: true
  ) { _ in { call, _ in call.previous } }

  /// A loss, which has no effect outside of training.
  static let cost = DarknetLayer(
    SourceLayer("cost", "contrastive", becomes: "nothing"),
    trainingOptions: [
      "type", "scale", "ratio", "noobj", "thresh", "classes", "temperature", "yolo_layer",
      "cls_normalizer", "max_delta", "contrastive_neg_max",
    ], vanishes: true
  ) { _ in { call, _ in call.previous } }
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
