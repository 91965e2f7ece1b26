import Interpretation
import LibC
import TensorCore

/// Layers of keras-cv-attention-models and keras-hub.
enum AttentionModels {
  static let operations: [String: KerasOperations.Operation] = [
    "ChannelAffine": { run in
      let scaled = try along(run, run.weight(0), *)
      return Elements.same(
        run,
        run.weights.count > 1 ? try along(run, scaled, run.weight(1), +) : scaled)
    },
    "BiasLayer": { Elements.same($0, try along($0, $0.weight(0), +)) },
    "ZeroInitGain": { run in
      let gain = try run.vector(0, 1)[0]
      let bias = run.weights.count > 1 ? try run.vector(1, 1)[0] : 0
      return Elements.same(run, run.input.map { $0 * gain + bias })
    },
    "PositionalEmbedding": { run in
      Elements.same(run, try Merges.broadcast(run.input, run.weight(0, rank: run.input.rank), +))
    },
    "TokenAndPositionEmbedding": embedding,
  ]

  private static func along(
    _ run: LayerRun, _ weight: DoubleArray, _ function: (Double, Double) -> Double
  ) throws -> DoubleArray {
    try along(run, run.input, weight, function)
  }

  /// Combines an array with a vector along the layer's axis.
  private static func along(
    _ run: LayerRun, _ array: DoubleArray, _ weight: DoubleArray,
    _ function: (Double, Double) -> Double
  ) throws -> DoubleArray {
    guard let axis = array.axis(run.field("axis")?.int ?? -1) else { throw run.missing("its axis") }
    let shape = array.shape.indices.map { $0 == axis ? weight.count : 1 }
    return try Merges.broadcast(array, weight.reshaped(shape), function)
  }

  /// A row of one table for each word, and of another one for its position.
  private static func embedding(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 2)
    let sizes = [run.field("vocabulary_size")?.int, run.field("sequence_length")?.int]
    try run.require(
      run.weights.count == 2 && sizes[0] != sizes[1], "its tables cannot be told apart")
    func table(_ size: Int?) throws -> DoubleArray {
      let table = try run.weights.first(where: { $0.rank == 2 && $0.shape[0] == size }).orThrow(
        run.missing("it has no table of \(size ?? 0) rows"))
      return table
    }
    var words = run
    words.weights = [try table(sizes[0])]
    let result = try Products.embedding(words)[0]
    let positions = try table(sizes[1])
    let (steps, width) = (run.input.shape[1], positions.shape[1])
    try run.require(steps <= positions.shape[0], "\(steps) steps")
    let array = try Merges.broadcast(
      result.array, positions.slice(0, 0..<steps).reshaped([1, steps, width]), +)
    return [KerasValue(array: array, mask: result.mask)]
  }
}
