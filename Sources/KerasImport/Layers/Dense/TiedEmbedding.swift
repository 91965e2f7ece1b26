import CoreMLModel
import ImportSupport
import TensorCore

// Layers of keras-bert 0.89 and keras-embed-sim 0.10, which keras-transformer and keras-gpt-2 use.

/// An embedding that also outputs its table, for `EmbeddingSimilarity`.
enum TableEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "TokenEmbedding", "EmbeddingRet",
    becomes: "embedding; the table is part of the layer that uses it",
    options: "`mask_zero`; from keras-bert and keras-embed-sim",
    refused: "its table as an input of other layers than EmbeddingSimilarity")
  static let maskPolicy = MaskPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let embedding = try EmbeddingLayer.configured(configuration)
    let shape = [try configuration.int("input_dim"), try configuration.int("output_dim")]
    return conversion(embedding.weights) { call, network in
      var table = KerasTensor(blob: call.name + "_table", shape: shape, layout: .vector)
      table.table = try call.weight("embeddings", shape.map { $0 })
      return try embedding.convert(call, &network) + [table]
    }
  }
}

/// softmax(x · tableᵀ + bias)
enum EmbeddingSimilarity: KerasLayer {
  static let classes = [SourceLayer](
    "EmbeddingSimilarity", "EmbeddingSim", becomes: "innerProduct with the table, softmax",
    options: "`use_bias`; from keras-bert and keras-embed-sim", refused: "`return_logits`")
  static let maskPolicy = MaskPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let hasBias = try configuration.bool("use_bias", default: true)
    try configuration.require(
      !configuration.bool("return_logits", default: false), "return_logits",
      unsupported: "is not supported")
    return conversion(hasBias ? [WeightSlot("bias")] : []) { call, network in
      guard call.inputs.count == 2, let table = call.inputs[1].table else {
        throw call.unsupported("it takes a sequence and the table of an embedding")
      }
      let (count, size) = (table.shape[0], table.shape[1])
      let input = call.inputs[0]
      try call.require(
        input.channels == size,
        "its input \(input.shapeText) does not fit the table \(KerasTensor.text(table.shape))",
        code: .mismatch)
      let bias = hasBias ? Weights(try call.weight("bias", [count])) : nil
      let scores = network.channelProduct(
        network.standard(input, for: call.name), Weights(table), inputs: size, outputs: count,
        bias: bias, call.name + "__scores__")
      var result = network.softmax(scores, axis: scores.rank - 1, call.name)
      result.mask = input.mask
      return [result]
    }
  }
}
