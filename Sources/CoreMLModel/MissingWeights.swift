import TensorCore

/// What takes the place of the weights that an architecture comes without.
public enum MissingWeights: Sendable {
  /// For what runs the network.
  case random(RandomWeights)
  /// Zeros that take no memory, for what needs the sizes only.
  case zeros

  /// - Parameters:
  ///   - name: the layer's and the weight's, from which random values follow.
  ///   - fanIn: inputs of one output, for matrices and kernels.
  /// - Throws: `ModelError` if the shape is impossible or the memory is not to be had.
  package func values(_ name: String, shape: [Int], fanIn: Int) throws -> FloatValues {
    switch self {
    case .random(let random): return try random.values(name, shape: shape, fanIn: fanIn)
    case .zeros:
      _ = try checkedProduct(shape, limit: Limits.tensorElements)
      return FloatValues(repeating: 0, shape: shape)
    }
  }
}
