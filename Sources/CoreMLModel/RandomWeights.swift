import TensorCore

/// Random weights for a network without weights, for timing it.
///
/// Matrices and kernels are uniformly distributed with variance 2 / fan-in (He et al. 2015), which
/// keeps activations of networks of any depth within the range of floats and away from slow
/// subnormals. Scales are between ½ and 1½, and shifts between −0.1 and 0.1. The same seed and name
/// give the same values.
public struct RandomWeights: Sendable {
  /// The same seed gives the same weights.
  public let seed: UInt64

  /// Creates weights for a seed.
  public init(seed: UInt64) { self.seed = seed }

  /// - Parameters:
  ///   - name: the names of the layer and the weight; the weight's name, after the last slash or
  ///     period, determines its role.
  ///   - fanIn: inputs per output, for matrices and kernels.
  /// - Throws: `ModelError` if the shape is invalid or memory runs out.
  package func values(_ name: String, shape: [Int], fanIn: Int) throws -> FloatValues {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let buffer = try AlignedBuffer(checkedByteCount: count * 4)
    let values = buffer.pointer.bindMemory(to: Float.self, capacity: max(count, 1))
    var generator = SplitMix64(seed: seed ^ Self.hash(name))
    let (center, radius) = Self.range(name, fanIn: fanIn)
    for index in 0..<count {
      // 32 of the generator's bits as a number from −1 to 1.
      let unit = Float(Int32(truncatingIfNeeded: generator.next() >> 32)) * 0x1p-31
      values[index] = center + radius * unit
    }
    return FloatValues(
      bytes: Bytes(base: UnsafeRawPointer(buffer.pointer), count: count * 4, owner: buffer)
    ).shaped(shape)
  }

  private static func range(_ name: String, fanIn: Int) -> (center: Float, radius: Float) {
    let own = name.split { $0 == "/" || $0 == "." }.last.map { $0.lowercased() } ?? ""
    if ["gamma", "variance", "scale"].contains(where: own.contains) { return (1, 0.5) }
    if ["bias", "beta", "mean", "alpha"].contains(where: own.contains) { return (0, 0.1) }
    return (0, (6 / Float(max(fanIn, 1))).squareRoot())
  }

  /// FNV-1a.
  private static func hash(_ name: String) -> UInt64 {
    name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

extension NeuralNetwork {
  /// Fills every required weight that the document lacks with random values, except weights in
  /// activations.
  ///
  /// - Returns: the number of weights filled.
  /// - Throws: `ModelError` with the layer if its sizes are impossible.
  package mutating func fillMissingWeights(_ random: RandomWeights) throws -> Int {
    try requireMemoryForMissingWeights()
    var filled = 0
    for index in layers.indices where !(layers[index].parameters is Custom) {
      layers[index].addEmptyWeights()
      let wanted = Dictionary(
        first: (layers[index].parameters?.weights ?? []).map { ($0.name, $0) })
      guard wanted.values.contains(where: { $0.values.storedCount == 0 }) else { continue }
      let layer = layers[index].name
      try layers[index].editWeights { field, weights in
        guard weights.storedCount == 0, let weight = wanted[field] else { return }
        let outputs =
          weight.shape.indices.contains(weight.channelAxis) ? weight.shape[weight.channelAxis] : 1
        let count = try checkedProduct(weight.shape, limit: Limits.tensorElements)
        weights = Weights(
          try random.values(
            "\(layer)/\(field)", shape: weight.shape, fanIn: count / max(1, outputs)))
        filled += 1
      }
    }
    return filled
  }
}

extension NeuralNetwork {
  /// Throws unless all missing weights fit into a file and into memory.
  private func requireMemoryForMissingWeights() throws {
    var total = 0
    for var layer in layers where !(layer.parameters is Custom) {
      layer.addEmptyWeights()
      for weight in layer.parameters?.weights ?? [] where weight.values.storedCount == 0 {
        do {
          total = try checkedSum(
            [total, checkedProduct(weight.shape + [4])], limit: Limits.modelBytes)
        } catch let error as ModelError {
          var error = error.inLayer(layer.name, class: layer.parameters?.specificationTypeName)
          if error.code == .limitExceeded {
            error.message =
              "the missing weights would take more than the \(Limits.modelBytes) bytes of a file"
          }
          throw error
        }
      }
    }
    try MemoryBudget.require(total, "the missing weights")
  }
}

extension NeuralNetworkLayer {
  /// Adds missing required fields with empty values.
  fileprivate mutating func addEmptyWeights() {
    if var convolution = parameters as? Convolution, input.count == 1, convolution.kernel == nil {
      convolution.kernel = Weights()
      parameters = convolution
    }
    parameters?.addEmptyWeights()
  }
}
