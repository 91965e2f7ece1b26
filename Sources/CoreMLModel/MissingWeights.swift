import TensorCore

/// Replacement weights for an architecture without weights.
public enum MissingWeights: Sendable {
  /// Random values, for running the network.
  case random(RandomWeights)
  /// Zeros that take no memory, for tools that only need sizes.
  case zeros

  /// - Parameters:
  ///   - name: the names of the layer and the weight, which determine random values.
  ///   - fanIn: inputs per output, for matrices and kernels.
  /// - Throws: `ModelError` if the shape is invalid or memory runs out.
  package func values(_ name: String, shape: [Int], fanIn: Int) throws -> FloatValues {
    switch self {
    case .random(let random): return try random.values(name, shape: shape, fanIn: fanIn)
    case .zeros:
      let count = try checkedProduct(shape, limit: Limits.tensorElements)
      // A layer may rearrange them, which does take memory.
      try MemoryBudget.require(count * 4, "the weight '\(name)'")
      return FloatValues(repeating: 0, shape: shape)
    }
  }
}
