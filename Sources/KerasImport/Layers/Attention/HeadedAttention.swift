import CoreMLModel
import ImportSupport
import TensorCore

/// softmax(scale · query · keyᵀ + terms) · value, separately for each head: the attention that
/// layers of several packages share.
struct HeadedAttention {
  let heads: Int
  /// The scale of the scores; nil means 1 / √size.
  var scale: Float?
  /// Constants added to the scores, `[sequences · heads, queries, keys]`.
  var terms: FloatValues?
  var mask = AttentionMask()

  /// - Parameters:
  ///   - query: `[steps, heads · size]`, or several sequences, `[sequences, steps, heads · size]`;
  ///     key and value likewise.
  /// - Returns: the concatenated heads, in the query's shape.
  func attended(
    _ query: KerasTensor, _ key: KerasTensor, _ value: KerasTensor, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let projection = AttentionProjection(heads: heads, hasBias: false, call: call)
    func split(_ tensor: KerasTensor, _ part: String) throws -> (KerasTensor, size: Int) {
      guard let channels = tensor.channels, channels % heads == 0 else {
        throw call.error("\(tensor.shapeText) is not divisible into \(heads) heads")
      }
      let size = channels / heads
      let settled = network.settled(tensor, for: call.name)
      return (try projection.split(settled, size, "\(call.name)__\(part)_heads__", &network), size)
    }
    let (q, size) = try split(query, "query")
    let (k, _) = try split(key, "key")
    let (v, valueSize) = try split(value, "value")
    var scores = try network.matrixProduct(q, network.transposed(k), call.name + "__scores__", call)
    scores.blob = network.affine(
      scores.blob, scale ?? 1 / Float(size).squareRoot(), 0, call.name + "__scale__")
    if let terms {
      try call.require(
        scores.shape.dropFirst().map({ $0 ?? -1 }) == terms.shape,
        "its scores \(scores.shapeText) do not match \(KerasTensor.text(terms.shape))")
      scores = network.relaid(scores, to: .imageChannelsFirst, for: call.name + "_terms")
      scores.blob = network.add(
        call.name + "__terms__", Bias(Weights(terms), terms.shape), [scores.blob])
    }
    let (attended, _) = try network.attended(scores, v, mask, call.name + "__heads__", call)
    return try projection.merged(
      attended, valueSize, outer: query.rank == 4 ? query.shape[1] : nil, &network)
  }
}
