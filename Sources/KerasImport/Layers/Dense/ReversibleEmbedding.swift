import CoreMLModel
import ImportSupport

/// An embedding, or with `reverse`, the product with its table: a score for each index.
enum ReversibleEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "ReversibleEmbedding", becomes: "embedding; the reverse is an innerProduct with its table",
    options: "`tie_weights`, `logit_soft_cap`")
  static let maskPolicy = MaskPolicy.decides

  static func isReversed(_ call: LayerCall) -> Bool {
    if case .value(let value)? = call.arguments.positional.dropFirst().first {
      return value.bool ?? false
    }
    return call.flag("reverse")
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let embedding = try EmbeddingLayer.configured(configuration)
    let indices = try configuration.int("input_dim")
    let size = try configuration.int("output_dim")
    let isTied = try configuration.bool("tie_weights", default: true)
    let limit = try configuration.field("logit_soft_cap").map { _ in
      try configuration.double("logit_soft_cap")
    }
    return conversion(embedding.weights + (isTied ? [] : [WeightSlot("reverse_embeddings")])) {
      call, network in
      guard Self.isReversed(call) else { return try embedding.convert(call, &network) }
      guard let input = call.inputs.first else { throw call.error("it has no inputs") }
      let matrix =
        isTied
        ? Weights(try call.weight("embeddings", [indices, size]))
        : Weights(try call.weight("reverse_embeddings", [size, indices]).transposed([1, 0]))
      var result = network.channelProduct(
        network.standard(input, for: call.name), matrix, inputs: size, outputs: indices, call.name)
      if let limit {
        // limit · tanh(x / limit)
        result.blob = network.add(
          call.name + "__limit__",
          Activation(.scaledTanh(alpha: Float(limit), beta: Float(1 / limit))), [result.blob])
      }
      result.mask = input.mask
      return [result]
    }
  }
}
