import Interpretation
import LibC
import TensorCore

/// Attention without masks.
enum Attentions {
  static let operations: [String: KerasOperations.Operation] = [
    "Attention": { try attention($0, isAdditive: $0.field("score_mode")?.string == "concat") },
    "AdditiveAttention": { try attention($0, isAdditive: true) },
    "MultiHeadAttention": heads,
  ]

  /// Query, value and key; the key defaults to the value.
  private static func inputs(_ run: LayerRun) throws -> [DoubleArray] {
    try run.require((2...3).contains(run.inputs.count), "\(run.inputs.count) inputs")
    try run.require(
      run.inputs.allSatisfy { $0.mask == nil } && !run.bool("causal"),
      "attention with a mask is not interpreted")
    try run.require(
      run.inputs.allSatisfy { $0.array.rank == 3 }, "inputs that are not sequences of vectors")
    return run.inputs.map(\.array) + (run.inputs.count == 2 ? [run.inputs[1].array] : [])
  }

  /// softmax(scores) · value; a score is q · k, or Σ w · tanh(q + k) if additive.
  private static func attention(_ run: LayerRun, isAdditive: Bool) throws -> [KerasValue] {
    let inputs = try inputs(run)
    let (query, value, key) = (inputs[0], inputs[1], inputs[2])
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
    let shares = Activation.softmax(scores, axis: -1)
    return [
      KerasValue(
        array: try Einsums.sum(shares, Array("bts"), value, Array("bsd"), to: Array("btd")))
    ]
  }

  /// The weights are kernels `[in, heads, size]` for query, key and value, and `[heads, size, out]`
  /// for the output, each followed by a bias.
  private static func heads(_ run: LayerRun) throws -> [KerasValue] {
    let inputs = try inputs(run)
    let hasBias = run.bool("use_bias", default: true)
    try run.require(
      run.weights.count == (hasBias ? 8 : 4), "it has \(run.weights.count) arrays of weights")
    for name in ["output_shape", "window_size", "sliding_window", "use_gate", "head_num"] {
      let value = run.field(name)
      try run.require(
        value == nil || value?.bool == false, "its field '\(name)' is not interpreted")
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
    let query = try projected(inputs[0], 0, "btd", "btnh")
    let key = try projected(inputs[2], 1, "bsd", "bsnh")
    let value = try projected(inputs[1], 2, "bsd", "bsnh")
    let scale = 1 / Double(query.shape[3]).squareRoot()
    let scores = try Einsums.sum(query, Array("btnh"), key, Array("bsnh"), to: Array("bnts"))
    let shares = Activation.softmax(scores.map { $0 * scale }, axis: -1)
    let mixed = try Einsums.sum(shares, Array("bnts"), value, Array("bsnh"), to: Array("btnh"))
    return [KerasValue(array: try projected(mixed, 3, "btnh", "btd"))]
  }
}
