import Interpretation
import LibC
import TensorCore

/// The layers of vit-keras.
enum VisionTransformers {
  static let operations: [String: KerasOperations.Operation] = [
    "ClassToken": { run in
      try run.require(rank: 3)
      let token = try run.weight(0, rank: 3)
      let tokens = [DoubleArray](repeating: token, count: run.input.shape[0])
      let first = DoubleArray.concatenated(tokens, axis: 0)
      let parts = run.bool("is_at_end") ? [run.input, first] : [first, run.input]
      return [KerasValue(array: DoubleArray.concatenated(parts, axis: 1))]
    },
    "AddPositionEmbs": { run in
      Elements.same(run, try Merges.broadcast(run.input, run.weight(0, rank: 3), +))
    },
    "TransformerBlock": block,
  ]

  /// y = x + attention(norm(x)), then y + mlp(norm(y)); the second output is the attention weights.
  /// The layer's weights are query, key, value, output and the two layers of the MLP, each with its
  /// bias, and both norms.
  private static func block(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 3)
    try run.require(run.weights.count == 16, "it has \(run.weights.count) arrays of weights")
    guard let heads = run.field("num_heads")?.int, heads > 0 else {
      throw run.missing("its field 'num_heads'")
    }
    func dense(_ x: DoubleArray, _ index: Int) throws -> DoubleArray {
      let product = try Products.product(x, run.weight(2 * index, rank: 2))
      return Elements.adding(product, try run.vector(2 * index + 1, product.shape.last ?? 0))
    }
    func normalized(_ x: DoubleArray, _ index: Int) throws -> DoubleArray {
      let factors = try [run.weight(index), run.weight(index + 1)].map {
        try $0.reshaped([1, 1, $0.count])
      }
      let centered = try Merges.broadcast(x, Normalizations.mean(x, [2]), -)
      let variance = Normalizations.mean(centered.map { $0 * $0 }, [2])
      let unit = try Merges.broadcast(centered, variance) { $0 / ($1 + 1e-6).squareRoot() }
      return try Merges.broadcast(Merges.broadcast(unit, factors[0], *), factors[1], +)
    }
    let (batch, steps, width) = (run.input.shape[0], run.input.shape[1], run.input.shape[2])
    try run.require(width % heads == 0, "its field 'num_heads'")
    let x = try normalized(run.input, 12)
    let parts = try (0..<3).map {
      try dense(x, $0).reshaped([batch, steps, heads, width / heads])
    }
    let scale = 1 / Double(width / heads).squareRoot()
    let scores = try Einsums.sum(
      parts[0], Array("bthd"), parts[1], Array("bshd"), to: Array("bhts"))
    let shares = Activation.softmax(scores.map { $0 * scale }, axis: -1)
    let mixed = try Einsums.sum(
      shares, Array("bhts"), parts[2], Array("bshd"), to: Array("bthd")
    ).reshaped([batch, steps, width])
    let attended = try Merges.broadcast(dense(mixed, 3), run.input, +)
    let inner = try dense(normalized(attended, 14), 4).map {
      0.5 * $0 * (1 + erf($0 / 2.0.squareRoot()))
    }
    let result = try Merges.broadcast(dense(inner, 5), attended, +)
    return [KerasValue(array: result), KerasValue(array: shares)]
  }
}
