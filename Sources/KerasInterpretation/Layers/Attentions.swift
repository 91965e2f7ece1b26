import ByteFormats
import Interpretation
import LibC
import TensorCore

/// Attention, with masks.
enum Attentions {
  static let operations: [String: KerasOperations.Operation] = [
    "Attention": { try attention($0, isAdditive: $0.field("score_mode")?.string == "concat") },
    "AdditiveAttention": { try attention($0, isAdditive: true) },
    "MultiHeadAttention": heads, "GroupQueryAttention": heads, "GroupedQueryAttention": heads,
  ]

  /// The arguments of calls, by class.
  static let arguments: [String: Set<String>] = {
    let common: Set<String> = ["use_causal_mask", "return_attention_scores"]
    let heads = common.union(["attention_mask"])
    return [
      "Attention": common, "AdditiveAttention": common, "MultiHeadAttention": heads,
      "GroupQueryAttention": heads, "GroupedQueryAttention": heads,
    ]
  }()

  /// Query, value and key; the key defaults to the value.
  private static func inputs(_ run: LayerRun) throws -> [KerasValue] {
    try run.require((2...3).contains(run.inputs.count), "\(run.inputs.count) inputs")
    try run.require(
      run.inputs.allSatisfy { $0.array.rank == 3 }, "inputs that are not sequences of vectors")
    for input in run.inputs {
      try run.require(
        input.mask.map { $0.shape == Array(input.array.shape.prefix(2)) } ?? true,
        "a mask of another shape")
    }
    return run.inputs + (run.inputs.count == 2 ? [run.inputs[1]] : [])
  }

  /// The product of masks that broadcast to `[batch, …, queries, keys]`.
  private static func merged(_ masks: [DoubleArray?]) throws -> DoubleArray? {
    let masks = masks.compactMap { $0 }
    guard let first = masks.first else { return nil }
    return try masks.dropFirst().reduce(first) { try Merges.broadcast($0, $1, *) }
  }

  /// 1 for pairs of a query and a key that may meet.
  private static func band(
    _ scores: DoubleArray, _ isMet: (_ query: Int, _ key: Int) -> Bool
  ) -> DoubleArray {
    let (rows, columns) = (scores.shape[scores.rank - 2], scores.shape[scores.rank - 1])
    let values = (0..<rows).flatMap { row in (0..<columns).map { isMet(row, $0) ? 1.0 : 0 } }
    return DoubleArray(
      shape: [Int](repeating: 1, count: scores.rank - 2) + [rows, columns], values)
  }

  /// Softmax along the keys. Keras subtracts 10⁹ or replaces the scores by the lowest number: if all
  /// keys of a query are masked, they have the same share in single precision.
  private static func shares(
    _ scores: DoubleArray, _ mask: DoubleArray?, dropsMasked: Bool = false
  ) throws -> DoubleArray {
    guard let mask else { return Activation.softmax(scores, axis: -1) }
    let result = Activation.softmax(
      try Merges.broadcast(scores, mask) { $1 == 0 ? -1e30 : $0 }, axis: -1)
    return dropsMasked ? try Merges.broadcast(result, mask, *) : result
  }

  /// softmax(scores) · value; a score is q · k, or Σ w · tanh(q + k) if additive. The result is 0 for
  /// masked queries.
  private static func attention(_ run: LayerRun, isAdditive: Bool) throws -> [KerasValue] {
    let inputs = try inputs(run)
    let (query, value, key) = (inputs[0].array, inputs[1].array, inputs[2].array)
    var scores: DoubleArray
    if isAdditive {
      let (batch, width) = (query.shape[0], query.shape[2])
      let isOwn = run.className == "Attention"
      let isScaled = run.bool("use_scale", default: !isOwn)
      let scale = isOwn && isScaled ? try run.vector(0, 1)[0] : 1
      let factors: [Double] =
        isOwn
        ? [Double](repeating: try run.vector(isScaled ? 1 : 0, 1)[0], count: width)
        : isScaled ? try run.vector(0, width) : [Double](repeating: 1, count: width)
      let sums = try Merges.broadcast(
        query.reshaped([batch, query.shape[1], 1, width]),
        key.reshaped([batch, 1, key.shape[1], width]), +
      ).map { tanh(scale * $0) }
      scores = try Einsums.sum(
        sums, Array("btsd"), DoubleArray(shape: [width], factors), ["d"], to: Array("bts"))
    } else {
      scores = try Einsums.sum(query, Array("btd"), key, Array("bsd"), to: Array("bts"))
      if run.bool("use_scale") {
        let scale = try run.vector(0, 1)[0]
        scores = scores.map { $0 * scale }
      }
    }
    let isCausal = run.bool("causal") || run.call.flag("use_causal_mask")
    let shares = try shares(
      scores,
      merged([
        inputs[1].mask.map { try $0.reshaped([$0.shape[0], 1, $0.shape[1]]) },
        isCausal ? band(scores) { $1 <= $0 } : nil,
      ]))
    var result = try Einsums.sum(shares, Array("bts"), value, Array("bsd"), to: Array("btd"))
    if let mask = inputs[0].mask {
      result = try Merges.broadcast(result, mask.reshaped(mask.shape + [1]), *)
    }
    let outputs = [KerasValue(array: result, mask: inputs[0].mask), KerasValue(array: shares)]
    return run.call.flag("return_attention_scores") ? outputs : [outputs[0]]
  }

  /// The weights are kernels `[in, heads, size]` for query, key and value, and `[heads, size, out]`
  /// for the output, each followed by a bias. If the key has fewer heads than the query, several of
  /// the query's share one.
  private static func heads(_ run: LayerRun) throws -> [KerasValue] {
    let inputs = try inputs(run)
    let hasBias = run.bool("use_bias", default: true)
    try run.require(
      run.weights.count == (hasBias ? 8 : 4), "it has \(run.weights.count) arrays of weights")
    for name in ["output_shape", "window_size", "use_gate", "head_num", "attention_axes"] {
      let value = run.field(name)
      try run.require(
        value == nil || value?.bool == false || name == "attention_axes" && value?.list == [1],
        "its field '\(name)' is not interpreted")
    }
    func projected(
      _ x: DoubleArray, _ index: Int, _ from: String, _ to: String
    ) throws -> DoubleArray {
      let position = hasBias ? 2 * index : index
      let kernel = index == 3 ? "nhd" : "dnh"
      let result = try Einsums.sum(
        x, Array(from), run.weight(position, rank: 3), Array(kernel), to: Array(to))
      guard hasBias else { return result }
      let bias = try run.weight(position + 1)
      let shape = [Int](repeating: 1, count: result.rank - min(result.rank, bias.rank)) + bias.shape
      return try Merges.broadcast(result, bias.reshaped(shape), +)
    }
    let query = try projected(inputs[0].array, 0, "btd", "btnh")
    func shared(_ x: DoubleArray) throws -> DoubleArray {
      let (all, own) = (query.shape[2], x.shape[2])
      try run.require(own > 0 && all % own == 0, "\(all) and \(own) heads")
      if all == own { return x }
      return DoubleArray.concatenated(
        (0..<all).map { x.slice(2, $0 / (all / own)..<$0 / (all / own) + 1) }, axis: 2)
    }
    let key = try shared(projected(inputs[2].array, 1, "bsd", "bsnh"))
    let value = try shared(projected(inputs[1].array, 2, "bsd", "bsnh"))
    let scale = 1 / Double(query.shape[3]).squareRoot()
    let scores = try Einsums.sum(query, Array("btnh"), key, Array("bsnh"), to: Array("bnts"))
      .map { $0 * scale }
    let returnsScores = run.call.flag("return_attention_scores")
    let shares = try shares(
      scores, mask(run, inputs, scores),
      dropsMasked: run.generation.softmaxDropsMasked
        && (returnsScores || run.double("dropout", default: 0) > 0))
    let mixed = try Einsums.sum(shares, Array("bnts"), value, Array("bsnh"), to: Array("btnh"))
    let result = KerasValue(array: try projected(mixed, 3, "btnh", "btd"), mask: inputs[0].mask)
    return returnsScores ? [result, KerasValue(array: shares)] : [result]
  }

  /// The mask of the scores `[batch, heads, queries, keys]`.
  private static func mask(
    _ run: LayerRun, _ inputs: [KerasValue], _ scores: DoubleArray
  ) throws -> DoubleArray? {
    var masks: [DoubleArray?] = []
    if run.generation.attentionUsesMasks {
      for (index, input) in inputs.enumerated() {
        masks.append(
          try input.mask.map { mask in
            let (batch, steps) = (mask.shape[0], mask.shape[1])
            return try mask.reshaped(index == 0 ? [batch, 1, steps, 1] : [batch, 1, 1, steps])
          })
      }
    }
    if run.call.flag("use_causal_mask") { masks.append(band(scores) { $1 <= $0 }) }
    if let window = run.field("sliding_window")?.int {
      masks.append(band(scores) { abs($0 - $1) < window })
    }
    if let given = run.tensor("attention_mask") {
      try run.require((3...4).contains(given.rank), "an attention mask of shape \(given.shape)")
      var shape = given.shape
      if shape.count == 3 { shape.insert(1, at: 1) }
      masks.append(try given.reshaped(shape).map { $0 == 0 ? 0 : 1 })
    }
    return try merged(masks)
  }
}
