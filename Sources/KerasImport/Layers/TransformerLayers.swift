import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

// Layers of keras-hub 0.32.

/// Multi-head attention and a network of two matrices, each added to its input, with a normalization
/// behind each or before each. A decoder attends to the steps before, and perhaps to an encoder's
/// result.
struct TransformerLayer: KerasLayer {
  static let classes = [SourceLayer](
    "TransformerEncoder", "TransformerDecoder",
    becomes: "innerProducts, matrix products, \(SourceLayer.matrices), softmax",
    options:
      "`intermediate_dim`, `num_heads`, `activation`, `normalize_first`, padding and attention masks, `use_causal_mask`; from keras-hub",
    refused: "`return_attention_scores`, caches")
  static let maskPolicy = MaskPolicy.passes

  private let isDecoder: Bool
  private let hasEncoder: Bool
  private let hidden: Int
  private let heads: Int
  private let activation: JSONValue
  private let epsilon: Double
  private let dropout: Double
  private let normalizesFirst: Bool

  init(_ configuration: LayerConfiguration) throws {
    isDecoder = configuration.className.hasSuffix("Decoder")
    hasEncoder = configuration.field("encoder_sequence_shape") != nil
    hidden = try configuration.int("intermediate_dim")
    heads = try configuration.int("num_heads")
    activation = configuration.field("activation")?.value ?? .string("relu")
    epsilon = try configuration.double("layer_norm_epsilon", default: 1e-5)
    dropout = try configuration.double("dropout", default: 0)
    normalizesFirst = try configuration.bool("normalize_first", default: false)
  }

  /// In the order of the groups in a `.keras` file.
  var weights: [WeightSlot] {
    let cross =
      hasEncoder
      ? WeightSlot.attention("cross") + WeightSlot.inside("cross_norm", "gamma", "beta") : []
    return cross + WeightSlot.matrices("intermediate") + WeightSlot.inside("norm", "gamma", "beta")
      + WeightSlot.matrices("output") + WeightSlot.attention("self")
      + WeightSlot.inside("self_norm", "gamma", "beta")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    for name in ["self_attention_cache", "cross_attention_cache"] {
      try call.require(call.tensor(named: name) == nil, unsupported: "\(name) is not supported")
    }
    try call.require(
      !call.flag("return_attention_scores"),
      unsupported: "return_attention_scores is not supported")
    guard let input = call.inputs.first, input.rank == 3, let channels = input.channels,
      channels % heads == 0
    else { throw call.error("its input is not divisible into \(heads) heads") }
    let prefix = isDecoder ? "decoder_" : ""
    let isCausal: Bool
    if case .value(let value)? = call.arguments.keywords["use_causal_mask"] {
      isCausal = isDecoder && value.bool ?? true
    } else {
      isCausal = isDecoder
    }
    var x = try added(input, "self_norm", call, &network) { x, network in
      let mask = try mask(prefix, call, &network)
      return try attention(x, x, mask, isCausal, "self", channels, call, &network)
    }
    if hasEncoder {
      let encoded = try call.tensor(1, "encoder_sequence").orThrow(
        call.tooFewInputs("a sequence and the result of an encoder"))
      x = try added(x, "cross_norm", call, &network) { x, network in
        let mask = try mask("encoder_", call, &network)
        return try attention(x, encoded, mask, false, "cross", channels, call, &network)
      }
    }
    return [
      try added(x, "norm", call, &network) { x, network in
        let inner = try call.dense(x, "intermediate", hidden, activation: activation, &network)
        return try call.dense(inner, "output", channels, &network)
      }
    ]
  }

  /// x + body(normalized x), or the normalized x + body(x).
  private func added(
    _ input: KerasTensor, _ norm: String, _ call: LayerCall, _ network: inout NetworkWriter,
    _ body: (KerasTensor, inout NetworkWriter) throws -> KerasTensor
  ) throws -> KerasTensor {
    let x =
      normalizesFirst ? try call.normalized(input, norm, epsilon: epsilon, &network) : input
    var result = try call.part("Add", [body(x, &network), input], norm + "_sum", &network)
    if !normalizesFirst {
      result = try call.normalized(result, norm, epsilon: epsilon, &network)
    }
    result.mask = call.inputs.first?.mask
    return result
  }

  /// The padding mask with an axis for the queries, times the attention mask.
  private func mask(
    _ prefix: String, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor? {
    var mask = call.tensor(named: prefix + "attention_mask")
    if let padding = call.tensor(named: prefix + "padding_mask") {
      guard padding.rank == 2, let keys = padding.inserting(at: 1) else {
        throw call.error("its padding mask \(padding.shapeText) is not one number for each step")
      }
      mask =
        try mask.map { try call.part("Multiply", [$0, keys], prefix + "mask", &network) } ?? keys
    }
    return mask
  }

  private func attention(
    _ query: KerasTensor, _ value: KerasTensor, _ mask: KerasTensor?, _ isCausal: Bool,
    _ path: String, _ channels: Int, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    var attention = KerasAttention(heads: heads, size: channels / heads)
    (attention.mask, attention.isCausal, attention.dropout) = (mask, isCausal, dropout)
    return try attention.attended(query, value, path, call, &network)
  }
}

/// Keras's multi-head attention inside another layer.
struct KerasAttention {
  let heads: Int
  let size: Int
  var hasBias = true
  var mask: KerasTensor?
  var isCausal = false
  var dropout = 0.0

  func attended(
    _ query: KerasTensor, _ value: KerasTensor, _ path: String, _ call: LayerCall,
    _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    let name = "\(call.name)__\(path)__"
    var fields = JSONObject()
    fields["num_heads"] = .int(heads)
    fields["key_dim"] = .int(size)
    fields["use_bias"] = .bool(hasBias)
    fields["dropout"] = .double(dropout)
    let layer = try MultiHeadAttention(
      LayerConfiguration(
        name: name, className: "MultiHeadAttention", fields: fields, version: call.version))
    var inner = call.with(
      name: name, inputs: [query, value] + (mask.map { [$0] } ?? []),
      weights: call.weights(under: path))
    inner.arguments.positional = [.tensor(0), .tensor(1)]
    if mask != nil { inner.arguments.keywords["attention_mask"] = .tensor(2) }
    inner.arguments.keywords["use_causal_mask"] = .value(.bool(isCausal))
    let result = try layer.convert(inner, into: &network).first.orThrow(
      call.error("its attention has no output"))
    return result
  }
}

extension LayerCall {
  /// The tensor passed by this name.
  func tensor(named name: String) -> KerasTensor? {
    if case .tensor(let index)? = arguments.keywords[name] { inputs[index] } else { nil }
  }
}

extension WeightSlot {
  /// Weights of Keras's multi-head attention inside another layer.
  static func attention(_ path: String, hasBias: Bool = true) -> [WeightSlot] {
    ["query", "key", "value", "attention_output"].flatMap {
      inside(path, $0 + "_kernel", hasBias ? $0 + "_bias" : nil)
    }
  }
}

/// A row of a table for each index, plus one for each step.
struct TokenAndPositionEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "TokenAndPositionEmbedding", becomes: "embedding, loadConstant, add",
    options:
      "`vocabulary_size`, `sequence_length`, `embedding_dim`, `mask_zero`; from keras-hub; the classes of keras.io, also PositionalEmbedding",
    refused: "`start_index`, `positions`")
  static let maskPolicy = MaskPolicy.decides

  private let tokens: Int
  private let steps: Int
  private let width: Int
  private let isTied: Bool
  private let masksZero: Bool
  /// Whether it is one of the classes of keras.io.
  private let isExample: Bool

  init(_ configuration: LayerConfiguration) throws {
    tokens = try configuration.int("vocabulary_size", "vocab_size")
    steps = try configuration.int("sequence_length", "maxlen")
    width = try configuration.int("embedding_dim", "embed_dim")
    isExample = configuration.field("vocab_size") != nil
    isTied = try configuration.bool("tie_weights", default: true)
    masksZero = try configuration.bool("mask_zero", default: false)
  }

  /// In the order of the groups in a `.keras` file.
  var weights: [WeightSlot] {
    WeightSlot.inside("positions", "embeddings")
      + WeightSlot.inside("tokens", "embeddings", isTied ? nil : "reverse_embeddings")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try call.requireNoPositions()
    var call = call
    if isExample, let first = call.weights.first, !first.storedName.contains("vars/") {
      // An .h5 file has them in the order in which the class makes them.
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

extension LayerCall {
  /// - Throws: if the call counts positions otherwise than from 0.
  func requireNoPositions() throws {
    let start = arguments.keywords["start_index"]?.constant ?? .int(0)
    try require(
      tensor(named: "positions") == nil && tensor(named: "start_index") == nil
        && (start.isNull || start.int == 0),
      unsupported: "start_index and positions are not supported")
  }

  /// The first `count` rows of a table for positions.
  func positions(_ name: String, _ rows: Int, _ width: Int, count: Int) throws -> FloatValues {
    try require(count <= rows, "its input has \(count) steps, its table \(rows)")
    let stored = try weight(name, [rows, width]).array()
    return FloatValues(Array(stored.prefix(count * width))).shaped([count, width])
  }
}
