import CoreMLModel
import ImportSupport
import TensorCore

/// Multi-head attention: each head projects query, key and value with its own matrices and computes
/// softmax(query · keyᵀ / √size) · value; another matrix combines the heads.
///
/// If several query heads share a key and a value (`GroupQueryAttention`), the shared matrices are
/// repeated. A gate multiplies the heads by sigmoid(query · matrix).
enum MultiHeadAttention: KerasLayer {
  static let classes = [SourceLayer](
    "MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention",
    becomes: "innerProducts, matrix products, \(SourceLayer.matrices), softmax",
    options:
      "`value_dim`, `use_bias`, `output_shape`, `attention_axes`, `use_causal_mask`, `attention_mask`, `return_attention_scores`, `sliding_window`, `use_gate`, masks; GroupQueryAttention",
    refused:
      "attention masks, windows and scores along axes of an image"
  )
  static let maskPolicy = MaskPolicy.decides

  private static let headLimit = 4096

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    if configuration["head_num"] != nil {
      // The class with the same name in keras-multi-head.
      let other = try ProjectedAttention(configuration)
      return conversion(other.weights) { [try other.convert($0, &$1)] }
    }
    // Several query heads may share a key and a value.
    let isShared = !configuration.className.hasSuffix("MultiHeadAttention")
    let heads = try configuration.int(isShared ? "num_query_heads" : "num_heads")
    let sharedHeads = isShared ? try configuration.int("num_key_value_heads") : heads
    let keySize = try configuration.int(isShared ? "head_dim" : "key_dim")
    let valueSize = isShared ? keySize : try configuration.int("value_dim", default: keySize)
    try configuration.require(
      heads % sharedHeads == 0, "num_key_value_heads",
      unsupported: "\(heads) heads are not divisible by \(sharedHeads)")
    guard heads <= headLimit else {
      throw configuration.unsupported(nil, "it has \(heads) heads; the limit is \(headLimit)")
    }
    let hasBias = try configuration.bool("use_bias", default: true)
    let hasGate = try configuration.bool("use_gate", default: false)
    let window = try configuration.field("sliding_window").map { _ in
      try configuration.int("sliding_window")
    }
    // The axes of the query along which it attends, counting the batch; nil means all but the last.
    let axes = try configuration.ints("attention_axes")
    let outputShape = try configuration.ints("output_shape")
    let hasDropout = try configuration.double("dropout", default: 0) > 0
    let parts = ["query", "key"] + (hasGate ? ["gate"] : []) + ["value", "attention_output"]
    let slots = parts.flatMap { WeightSlot.named($0 + "_kernel", hasBias ? $0 + "_bias" : nil) }
    return conversion(slots) { call, network in
      guard let query = call.tensor(0, "query"), let value = call.tensor(1, "value") else {
        throw call.tooFewInputs("a query and a value")
      }
      let key = call.tensor(2, "key") ?? value
      let returnsScores = call.flag("return_attention_scores")
      var mask = AttentionMask(isCausal: call.flag("use_causal_mask"), window: window)
      // TensorFlow's layer uses the masks of its inputs since version 2.10.
      if !call.version.isKnown || call.version.isAtLeast(2, 10) {
        mask.queries = query.mask
        mask.keys = [value, key].compactMap(\.mask)
      }
      mask.given = call.tensor(call.version.isAtLeast(3, 0) ? 6 : 3, "attention_mask")
      let folding = try AttentionFolding(axes, query, call)
      if folding != nil, mask.given != nil || mask.window != nil || returnsScores {
        throw call.unsupported(
          "attention along axes of an image with an attention mask, a window or scores is not supported"
        )
      }
      func part(_ tensor: KerasTensor, _ name: String) throws -> KerasTensor {
        try folding?.folded(tensor, "\(call.name)__\(name)__fold", call, &network)
          ?? network.standard(tensor, for: call.name)
      }
      let queries = try part(query, "query")
      var projection = AttentionProjection(heads: heads, hasBias: hasBias, call: call)
      let q = try projection.heads(queries, "query", keySize, &network)
      var gate: KerasTensor?
      if hasGate { gate = try projection.heads(queries, "gate", valueSize, &network) }
      projection.sharedHeads = sharedHeads
      let k = try projection.heads(try part(key, "key"), "key", keySize, &network)
      let v = try projection.heads(try part(value, "value"), "value", valueSize, &network)
      var scores = try network.matrixProduct(
        q, network.transposed(k), call.name + "__scores__", call)
      scores.blob = network.affine(
        scores.blob, 1 / Float(keySize).squareRoot(), 0, call.name + "__scale__")
      var (attended, weights) = try network.attended(
        scores, v, mask,
        dropsIgnored: call.version.isAtLeast(3, 14) && (returnsScores || hasDropout),
        call.name + "__heads__", call)
      if let gate {
        let moved = network.relaid(gate, to: attended.layout, for: call.name + "_gate")
        let sigmoid = network.add(
          call.name + "__gate_sigmoid__", Activation(.sigmoid), [moved.blob])
        attended.blob = network.product(attended.blob, sigmoid, call.name + "__gated__")
      }
      let merged = try projection.merged(
        attended, valueSize, outer: queries.rank == 4 ? queries.shape[1] : nil, &network)
      let channels = call.missingWeights == nil ? nil : call.inputs.first?.shape.last ?? nil
      let sizes = outputShape?.map { Int?($0) } ?? [channels]
      var result = try output(merged, [heads, valueSize] + sizes, hasBias: hasBias, call, &network)
      if let folding { result = try folding.unfolded(result, call, &network) }
      result.mask = query.mask
      return returnsScores ? [result, weights] : [result]
    }
  }

  /// - Parameter shape: the number of heads, the size of each, and the shape of the output.
  private static func output(
    _ merged: KerasTensor, _ shape: [Int?], hasBias: Bool, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let kernel = try call.weight("attention_output_kernel", shape)
    let inner = kernel.shape[0] * kernel.shape[1]
    let made = Array(kernel.shape[2...])
    let outputs = try checkedProduct(made, limit: Limits.dimension)
    let bias =
      hasBias ? Weights(try call.weight("attention_output_bias", made).shaped([outputs])) : nil
    let result = network.channelProduct(
      merged, Weights(kernel.shaped([inner, outputs]).transposed([1, 0])), inputs: inner,
      outputs: outputs, bias: bias, call.name)
    guard made.count > 1 else { return result }
    guard result.rank == 3, let steps = result.shape[1] else {
      throw call.unsupported(
        "output_shape \(made) is not supported for an input \(merged.shapeText)")
    }
    return try network.reshaped(
      result, to: [steps] + made, preferred: call.preferredImage,
      name: call.name + "__output__", call)
  }
}

/// Reshapes `[outer…, steps…, channels]` to `[product of outer, product of steps, channels]`.
private struct AttentionFolding {
  /// The query's axes that are treated as batch, and those along which it attends.
  let outer: [Int]
  let steps: [Int]
  private let query: KerasTensor

  /// Nil for a sequence, which needs no reshape.
  init?(_ axes: [Int]?, _ query: KerasTensor, _ call: LayerCall) throws {
    let last = query.rank - 1
    steps = try (axes ?? Array(1..<max(last, 1))).map { try call.axis($0, of: query) }
    if query.rank == 3, steps == [1] { return nil }
    try call.require(
      query.rank >= 3 && query.rank <= 5 && !steps.contains(last)
        && Set(steps).count == steps.count,
      unsupported: "attention along the axes \(steps) of \(query.shapeText) is not supported")
    let steps = steps
    outer = (1..<last).filter { !steps.contains($0) }
    self.query = query
  }

  private func sizes(_ axes: [Int], _ tensor: KerasTensor, _ call: LayerCall) throws -> [Int] {
    try call.known(axes.map { tensor.shape[$0] }, of: tensor)
  }

  func folded(
    _ tensor: KerasTensor, _ name: String, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    try call.require(tensor.rank == query.rank, "inputs \(query.shapeText) and \(tensor.shapeText)")
    let moved = tensor.reordered(outer + steps + [tensor.rank - 1])
    let count = { try checkedProduct(sizes($0, tensor, call), limit: Limits.dimension) }
    let channels = try tensor.channels.orThrow(call.unknownSize(of: tensor))
    return try network.reshaped(
      network.settled(moved, for: name), to: [count(outer), count(steps), channels], name: name,
      call)
  }

  func unfolded(
    _ tensor: KerasTensor, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    guard let channels = tensor.channels else { return tensor }
    let order = outer + steps + [query.rank - 1]
    let flat = try network.reshaped(
      tensor, to: sizes(outer + steps, query, call) + [channels], name: call.name + "__unfold", call
    )
    var result = flat
    for (index, axis) in order.enumerated() {
      result.shape[axis] = flat.shape[index + 1]
      result.layout.axes[axis - 1] = flat.layout.axes[index]
    }
    return network.settled(result, for: call.name + "_unfold")
  }
}
