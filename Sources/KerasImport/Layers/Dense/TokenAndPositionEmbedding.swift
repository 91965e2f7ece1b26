import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// Adds each index's row of one table and each step's row of another table.
enum TokenAndPositionEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "TokenAndPositionEmbedding", becomes: "embedding, loadConstant, add",
    options:
      "`vocabulary_size`, `sequence_length`, `embedding_dim`, `mask_zero`; from keras-hub; the classes of keras.io, also PositionalEmbedding",
    refused: "`start_index`, `positions`")
  static let maskPolicy = MaskPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let tokens = try configuration.int("vocabulary_size", "vocab_size")
    let steps = try configuration.int("sequence_length", "maxlen")
    let width = try configuration.int("embedding_dim", "embed_dim")
    // Whether it is one of the classes on keras.io.
    let isExample = configuration.field("vocab_size") != nil
    let isTied = try configuration.bool("tie_weights", default: true)
    let masksZero = try configuration.bool("mask_zero", default: false)
    return conversion(
      WeightSlot.inside("positions", "embeddings")
        + WeightSlot.inside("tokens", "embeddings", isTied ? nil : "reverse_embeddings")
    ) { call, network in
      try call.requireNoPositions()
      var call = call
      if isExample, let first = call.weights.first, !first.storedName.contains("vars/") {
        // An .h5 file stores them in the order in which the class creates them.
        call = call.with(
          name: call.name, inputs: call.inputs,
          weights: zip(call.weights, call.weights.reversed()).map { named, stored in
            var weight = stored
            weight.name = named.name
            return weight
          })
        try call.require(tokens != steps, unsupported: "its two tables have the same size")
      } else if isExample, let first = call.weights.first {
        try call.require(
          first.storedName.contains("pos"), unsupported: "its weights are not those of keras.io")
      }
      let embedded = try call.part(
        "Embedding", [call.input], "tokens",
        [
          "input_dim": .int(tokens), "output_dim": .int(width), "mask_zero": .bool(masksZero),
        ], &network)
      let count = try call.known([embedded.shape[1]], of: embedded)[0]
      let table = try call.positions("positions/embeddings", steps, width, count: count)
      var result = network.adding(table, to: embedded, call.name)
      result.mask = embedded.mask
      return [result]
    }
  }
}

extension LayerCall {
  /// The tensor passed as the keyword argument `name`.
  private func tensor(named name: String) -> KerasTensor? {
    if case .tensor(let index)? = arguments.keywords[name] { inputs[index] } else { nil }
  }

  /// - Throws: an error if the call does not count positions from 0.
  func requireNoPositions() throws {
    let start = arguments.keywords["start_index"]?.constant ?? .int(0)
    try require(
      tensor(named: "positions") == nil && tensor(named: "start_index") == nil
        && (start.isNull || start.int == 0),
      unsupported: "start_index and positions are not supported")
  }

  /// The first `count` rows of a table of positions.
  func positions(_ name: String, _ rows: Int, _ width: Int, count: Int) throws -> FloatValues {
    try require(count <= rows, "its input has \(count) steps, its table \(rows)")
    let stored = try weight(name, [rows, width]).array()
    return FloatValues(Array(stored.prefix(count * width))).shaped([count, width])
  }
}
