import CoreMLModel
import ImportSupport
import TensorCore

/// Σ a x / (Σ a + 1e-7) over the unmasked steps, with a = exp(tanh(x W + b) · u): attention with a
/// context vector, from hierarchical attention networks.
enum ContextAttention: KerasLayer {
  static let classes = [SourceLayer](
    "AttentionWithContext", "AttLayer",
    becomes: "two innerProducts, tanh, exp, products and sums",
    options: "masks; of hierarchical attention networks",
    refused: "weights other than a matrix, a bias and a vector")
  static let maskPolicy = MaskPolicy.decides

  /// The classes save no settings; whether there is a bias follows from the weights.
  static let hasKnownWeights = false

  /// Keras's `epsilon()`.
  private static let epsilon: Float = 1e-7

  private static func stored(
    _ call: LayerCall, _ channels: Int
  ) throws -> (matrix: FloatValues, bias: FloatValues?, context: FloatValues) {
    if call.missingWeights != nil {
      return (
        try call.weight("W", [channels, channels]), try call.weight("b", [channels]),
        try call.weight("u", [channels])
      )
    }
    let weights = try call.weights.map { try $0.values() }
    guard let matrix = weights.first, matrix.shape.count == 2, matrix.shape[0] == channels,
      let context = weights.last, (2...3).contains(weights.count),
      [[matrix.shape[1]], [matrix.shape[1], 1]].contains(context.shape),
      weights.count == 2 || weights[1].shape == [matrix.shape[1]]
    else {
      let shapes = weights.map { KerasTensor.text($0.shape) }.joined(separator: ", ")
      throw call.unsupported(
        "this variant of the class is not known: its weights are \(shapes), not a matrix "
          + "[\(channels), N], a bias [N] and a vector [N]")
    }
    return (matrix, weights.count == 3 ? weights[1] : nil, context)
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let known = ["bias", "attention_dim", "return_attention"]
    if try configuration.bool("return_attention", default: false) {
      throw configuration.unsupported("return_attention", "is not supported")
    }
    let other = configuration.fields.names.first {
      !CustomConversion.bookkeeping.contains($0) && !known.contains($0)
        && !$0.hasSuffix("_regularizer") && !$0.hasSuffix("_constraint")
    }
    if let other {
      throw configuration.unsupported(other, "this variant of the class is not known")
    }
    return conversion { call, network in
      let input = try call.input
      try call.require(input.rank == 3, "its input \(input.shapeText) is not a sequence")
      let channels = try call.known([input.channels], of: input)[0]
      let (matrix, bias, context) = try stored(call, channels)
      let width = matrix.shape[1]
      let sequence = network.relaid(input, to: .sequence, for: call.name)
      var scores = network.channelProduct(
        sequence, Weights(matrix.transposed([1, 0])), inputs: channels, outputs: width,
        bias: bias.map { Weights($0) }, call.name + "__inner__")
      scores.blob = network.add(call.name + "__tanh__", Activation(.tanh), [scores.blob])
      scores = network.channelProduct(
        scores, Weights(context), inputs: width, outputs: 1, call.name + "__scores__")
      scores = network.relaid(scores, to: .steps, for: call.name + "_scores")
      var factors = network.unary(.exp, scores.blob, call.name + "__exp__")
      if let mask = input.mask {
        let counts = network.relaid(network.steps(of: mask), to: .steps, for: call.name).blob
        factors = network.product(factors, counts, call.name + "__kept__")
      }
      var result = network.relaid(input, to: .steps, for: call.name)
      let weighted = network.product(result.blob, factors, call.name + "__weighted__")
      let sum = network.reduced(.sum, .w, weighted, call.name + "__sum__")
      let inverse = network.unary(
        .power, network.reduced(.sum, .w, factors, call.name + "__total__"),
        call.name + "__inverse__", alpha: -1, shift: Self.epsilon)
      result.blob = network.product(sum, inverse, call.name)
      result.shape[1] = 1
      result.mask = nil
      network.notes.append(
        "layer '\(call.name)' (\(call.className)) is assumed to be attention with a context vector, "
          + "judging by its class name and weights: its code is not in the file")
      return [result.without([1])]
    }
  }
}
