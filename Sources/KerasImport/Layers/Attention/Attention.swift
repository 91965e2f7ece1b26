import CoreMLModel
import ImportSupport
import TensorCore

/// softmax(scale · query · keyᵀ) · value
///
/// With `concat` and in `AdditiveAttention`, the score is Σ scale · tanh(query + key) instead.
enum Attention: KerasLayer {
  static let classes = [SourceLayer](
    "Attention", "AdditiveAttention",
    becomes: "matrix products, \(SourceLayer.matrices), softmax",
    options:
      "`use_scale`, `score_mode`, `use_causal_mask`, `return_attention_scores`, masks; AdditiveAttention",
    refused: "images")
  static let maskPolicy = MaskPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let isAdditive = configuration.className.contains("AdditiveAttention")
    let mode = try configuration.string("score_mode", default: "dot")
    try configuration.require(
      mode == "dot" || mode == "concat", "score_mode", unsupported: "'\(mode)' is not supported")
    let isConcat = mode == "concat"
    let hasScale = try configuration.bool("use_scale", default: isAdditive)
    let isCausal = try configuration.bool("causal", default: false)
    let slots = WeightSlot.named(
      hasScale ? "scale" : nil, isConcat && !isAdditive ? "concat_score_weight" : nil)
    return conversion(slots) { call, network in
      guard let given = call.tensor(0, "query"), let values = call.tensor(1, "value") else {
        throw call.tooFewInputs("a query and a value")
      }
      let keys = call.tensor(2, "key") ?? values
      try call.require(
        given.rank == 3 && values.rank == 3 && keys.rank == 3,
        unsupported:
          "inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")): only sequences are "
          + "supported")
      let query = network.standard(given, for: call.name)
      let value = network.standard(values, for: call.name)
      let key = network.standard(keys, for: call.name)
      var scores: KerasTensor
      if isAdditive || isConcat {
        scores = try sums(query, key, isAdditive: isAdditive, hasScale: hasScale, call, &network)
      } else {
        scores = try network.matrixProduct(
          query, network.transposed(key), call.name + "__scores__", call)
        if hasScale {
          let scale = try call.weight("scale", []).array()[0]
          scores.blob = network.affine(scores.blob, scale, 0, call.name + "__scale__")
        }
      }
      let mask = AttentionMask(
        isCausal: isCausal || call.flag("use_causal_mask"), keys: values.mask.map { [$0] } ?? [])
      var (result, weights) = try network.attended(scores, value, mask, call.name, call)
      if let mask = given.mask {
        let counts = network.relaid(
          network.steps(of: mask), to: TensorLayout(axes: [.height, .channel]), for: call.name)
        result = network.relaid(result, to: TensorLayout(axes: [.height, .width]), for: call.name)
        result.blob = network.product(result.blob, counts.blob, call.name + "__counted__")
        result.mask = mask
      }
      return call.flag("return_attention_scores") ? [result, weights] : [result]
    }
  }

  /// Σ scale · tanh(query + key) for all pairs of steps.
  private static func sums(
    _ query: KerasTensor, _ key: KerasTensor, isAdditive: Bool, hasScale: Bool, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    guard let size = query.channels, key.channels == size, !query.isShapeAssumed,
      !key.isShapeAssumed
    else {
      throw call.error(
        "its inputs \(query.shapeText) and \(key.shapeText) do not match or have an unknown size",
        code: .mismatch, hint: "fix it with \(setting: "inputShape")")
    }
    let (rows, columns) = (query.shape[1], key.shape[1])
    _ = try checkedProduct([rows ?? 1, columns ?? 1, size], limit: 1 << 28)
    func grid(_ tensor: KerasTensor, _ place: BlobAxis, _ factors: [Int?], _ name: String) -> String
    {
      let moved = network.relaid(tensor, to: TensorLayout(axes: [place, .channel]), for: name)
      let known = factors.compactMap { $0 }
      // With unknown lengths, an addition broadcasts both.
      return known.count == 2 ? network.add(name, Upsample(known), [moved.blob]) : moved.blob
    }
    let name = call.name
    var scale: Float = 1
    if !isAdditive, hasScale { scale = try call.weight("scale", []).array()[0] }
    var sum = network.sum(
      [
        grid(query, .height, [1, columns], name + "__queries__"),
        grid(key, .width, [rows, 1], name + "__keys__"),
      ], name + "__pairs__")
    if scale != 1 { sum = network.affine(sum, scale, 0, name + "__factor__") }
    var scores = network.add(name + "__tanh__", Activation(.tanh), [sum])
    if isAdditive, hasScale {
      let factors = Scale(Weights(try call.weight("scale", [size])), [size])
      scores = network.add(name + "__scale__", factors, [scores])
    }
    scores = network.reduced(.sum, .c, scores, name + "__scores__")
    if !isAdditive {
      let weight = try call.weight("concat_score_weight", []).array()[0]
      scores = network.affine(scores, weight, 0, name + "__weight__")
    }
    var result = query
    result.blob = scores
    result.shape = [query.shape[0], rows, columns]
    result.layout = TensorLayout(axes: [.height, .width])
    return result
  }
}
