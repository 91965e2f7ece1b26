import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

// Layers of vit-keras 0.1 and mlp-mixer-keras 0.0.5.

/// Stored steps before the steps of a sequence, or behind them.
struct ClassToken: KerasLayer {
  static let classes = [SourceLayer](
    "ClassToken", becomes: "loadConstant, concat",
    options: "`num_tokens`, `is_at_end`; from vit-keras and keras-cv-attention-models")

  private let count: Int
  private let isAtEnd: Bool

  init(_ configuration: LayerConfiguration) throws {
    count = try configuration.int("num_tokens", default: 1)
    isAtEnd = try configuration.bool("is_at_end", default: false)
  }

  var weights: [WeightSlot] { [WeightSlot("token")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (input, _, channels) = try call.sequence()
    let token = try call.weight("token", [1, count, channels]).shaped([count, channels])
    let steps = network.constantSequence(token, call.name + "__token__")
    return [
      try call.part(
        "Concatenate", isAtEnd ? [input, steps] : [steps, input], "sequence", ["axis": .int(1)],
        &network)
    ]
  }
}

/// Multi-head attention and a network of two matrices, each behind a normalization and added to its
/// input.
struct TransformerBlock: KerasLayer {
  static let classes = [SourceLayer](
    "TransformerBlock",
    becomes: "innerProducts, matrix products, \(SourceLayer.matrices), softmax",
    options: "`num_heads`, `mlp_dim`; from vit-keras",
    refused: "the scores, its second output; other classes of this name")

  private let heads: Int
  private let hidden: Int

  init(_ configuration: LayerConfiguration) throws {
    let isExample = configuration.field("ff_dim") != nil
    try configuration.require(
      configuration.field("mlp_dim") != nil, nil,
      unsupported: isExample
        ? "of Keras's two examples with this class, one attends to all steps and one to those "
          + "before, which the file does not say"
        : "only vit-keras' class of this name is supported",
      hint: "\(UnsupportedLayers.sourceHint); or make it a custom layer with "
        + "\(setting: "customLayers")")
    heads = try configuration.int("num_heads")
    hidden = try configuration.int("mlp_dim")
  }

  var weights: [WeightSlot] {
    WeightSlot.matrices("query", "key", "value", "out", "Dense_0", "Dense_1")
      + WeightSlot.inside("LayerNorm_0", "gamma", "beta")
      + WeightSlot.inside("LayerNorm_2", "gamma", "beta")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (input, _, channels) = try call.sequence()
    let fields: KeyValuePairs<String, JSONValue> = ["epsilon": .double(1e-6)]
    let x = try call.part("LayerNormalization", [input], "LayerNorm_0", fields, &network)
    let query = try call.dense(x, "query", channels, &network)
    let key = try call.dense(x, "key", channels, &network)
    let value = try call.dense(x, "value", channels, &network)
    let merged = try HeadedAttention(heads: heads).attended(query, key, value, call, &network)
    let attended = try call.dense(merged, "out", channels, &network)
    let sum = try call.part("Add", [attended, input], "attended", &network)
    var inner = try call.part("LayerNormalization", [sum], "LayerNorm_2", fields, &network)
    inner = try call.dense(inner, "Dense_0", hidden, activation: .string("gelu"), &network)
    inner = try call.dense(inner, "Dense_1", channels, &network)
    return [try call.part("Add", [sum, inner], "sum", &network)]
  }
}

/// Two networks of two matrices, over the steps and over the channels, each behind a normalization
/// over the steps and added to its input.
struct MixerBlock: KerasLayer {
  static let classes = [SourceLayer](
    "MixerBlock", becomes: "innerProducts, permutes, add",
    options: "`token_mixer_hidden_dim`, `channel_mixer_hidden_dim`; from mlp-mixer-keras")

  private let tokens: Int
  private let channels: Int
  private let tokenHidden: Int
  private let channelHidden: Int
  private let activation: JSONValue

  init(_ configuration: LayerConfiguration) throws {
    tokens = try configuration.int("num_patches")
    channels = try configuration.int("channel_dim")
    tokenHidden = try configuration.int("token_mixer_hidden_dim")
    channelHidden = try configuration.int("channel_mixer_hidden_dim", default: tokenHidden)
    activation = configuration.field("activation")?.value ?? .string("gelu")
  }

  var weights: [WeightSlot] {
    WeightSlot.inside("norm1", "gamma", "beta")
      + WeightSlot.matrices("token1", "token2")
      + WeightSlot.inside("norm2", "gamma", "beta")
      + WeightSlot.matrices("channel1", "channel2")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    let turned: KeyValuePairs<String, JSONValue> = ["dims": .array([.int(2), .int(1)])]
    var x = try call.part("LayerNormalization", [input], "norm1", ["axis": .int(1)], &network)
    x = try call.part("Permute", [x], "turned", turned, &network)
    x = try call.dense(x, "token1", tokenHidden, activation: activation, &network)
    x = try call.dense(x, "token2", tokens, &network)
    x = try call.part("Permute", [x], "back", turned, &network)
    let mixed = try call.part("Add", [x, input], "mixed", &network)
    x = try call.part("LayerNormalization", [mixed], "norm2", ["axis": .int(1)], &network)
    x = try call.dense(x, "channel1", channelHidden, activation: activation, &network)
    x = try call.dense(x, "channel2", channels, &network)
    return [try call.part("Add", [x, mixed], "sum", &network)]
  }
}
