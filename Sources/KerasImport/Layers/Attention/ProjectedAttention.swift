import ByteFormats
import ImportSupport
import TensorCore

/// The multi-head attention of keras-multi-head, which applies its activation to query, key, value
/// and result.
struct ProjectedAttention: Sendable {
  let heads: Int
  private let activation: JSONValue
  private let hasBias: Bool
  private let isCausal: Bool

  init(_ configuration: LayerConfiguration) throws {
    heads = try configuration.int("head_num")
    activation = configuration["activation"] ?? .null
    hasBias = try configuration.bool("use_bias", default: true)
    isCausal = try configuration.bool("history_only", default: false)
  }

  var weights: [WeightSlot] {
    WeightSlot.matrices("query", "key", "value", "output", hasBias: hasBias)
  }

  func convert(_ call: LayerCall, _ network: inout KerasWriter) throws -> KerasTensor {
    try call.require(
      call.inputs.count == 1 || call.inputs.count == 3, "it takes one input or three")
    let inputs = call.inputs.count == 3 ? call.inputs : Array(repeating: call.inputs[0], count: 3)
    let channels = try call.known([inputs[2].channels], of: inputs[2])[0]
    var parts: [KerasTensor] = []
    for (input, path) in zip(inputs, ["query", "key", "value"]) {
      parts.append(
        try call.dense(input, path, channels, hasBias: hasBias, activation: activation, &network))
    }
    var attention = HeadedAttention(heads: heads)
    attention.mask = AttentionMask(isCausal: isCausal, keys: inputs[1].mask.map { [$0] } ?? [])
    let merged = try attention.attended(parts[0], parts[1], parts[2], call, &network)
    var result = try call.dense(
      merged, "output", channels, hasBias: hasBias, activation: activation, &network)
    result.mask = inputs[0].mask
    return result
  }
}
