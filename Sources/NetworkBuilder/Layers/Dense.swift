import CoreMLModel
import TensorCore

/// out[n] = bias[n] + Σ weights[n, y, x, c] · in[y, x, c]
///
/// The weights are `[neurons, input height, input width, input channels]`; the result is a vector.
public final class Dense: Layer, @unchecked Sendable {
  /// - Parameters:
  ///   - neurons: number of values of the result.
  ///   - bias: whether one number per neuron is added.
  ///   - activation: applied to the result.
  public init(
    neurons: Int, bias: Bool = true, activation: Activation = .linear, name: String? = nil
  ) {
    super.init(
      name, DenseDefinition(neurons: neurons, hasBias: bias, activation: activation))
  }
}

struct DenseDefinition: LayerDefinition {
  static let typeName = "Dense"

  var neurons: Int
  var hasBias: Bool
  var activation: Activation

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    try requirePositive(neurons, "neurons")
    var input = try scope.single(inputs)
    let item = try input.knownShape()
    let count = try checkedProduct(item, limit: Limits.tensorElements)
    if item[3] != 1 || item[4] != 1 {
      // Channels last, so that the weights keep the order in which they were given.
      var flatten = CoreMLModel.Flatten()
      flatten.mode = .channelLast
      input = try scope.add(flatten, [input], suffix: "flatten", isLast: false)
    }
    var product = InnerProduct()
    product.inputChannels = count
    product.outputChannels = neurons
    product.matrix = Weights(
      try scope.weights(.weights, [neurons, item[3], item[4], item[2]], fanIn: count))
    if hasBias {
      product.hasBias = true
      product.bias = Weights(try scope.weights(.bias, [neurons], fanIn: count))
    }
    let result = try scope.add(product, [input], isLast: activation == .linear)
    return try scope.activate(activation, result)
  }
}
