import CoreMLModel
import TensorCore

extension Add: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    if inputs.count == 1 { return [inputs[0].mapped { $0 + Double(alpha) }] }
    return [combined(inputs, shape) { $0.reduce(0, +) }]
  }
}

extension Multiply: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    if inputs.count == 1 { return [inputs[0].mapped { $0 * Double(alpha) }] }
    return [combined(inputs, shape) { $0.reduce(1, *) }]
  }
}

extension Average: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [combined(inputs, try outputShape(inputs)) { $0.reduce(0, +) / Double($0.count) }]
  }
}

extension Max: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [combined(inputs, try outputShape(inputs)) { $0.dropFirst().reduce($0[0], Swift.max) }]
  }
}

extension Min: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [combined(inputs, try outputShape(inputs)) { $0.dropFirst().reduce($0[0], Swift.min) }]
  }
}

extension DotProduct: ReferenceLayer {
  /// Σ a·b, with `cosineSimilarity` of the normalised vectors.
  ///
  /// A vector's squared length is taken as at least 1e-12, as in the `l2_normalize` of Keras'
  /// backends, so that a vector of zeros gives 0.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let channels = inputs[0].channels
    func products(
      _ a: ReferenceTensor, _ b: ReferenceTensor, _ p: ReferenceTensor.Position
    ) -> Double {
      (0..<channels).reduce(0) { sum, channel in
        var place = p
        place.channel = channel
        return sum + a.broadcast(place) * b.broadcast(place)
      }
    }
    return [
      ReferenceTensor(shape: shape) { p in
        let sum = products(inputs[0], inputs[1], p)
        if !cosineSimilarity { return sum }
        let squares = inputs.map { Swift.max(products($0, $0, p), 1e-12) }
        return sum / (squares[0].squareRoot() * squares[1].squareRoot())
      }
    ]
  }
}

/// One value from those of all inputs at each position, their axes of size 1 repeated.
private func combined(
  _ inputs: [ReferenceTensor], _ shape: [Int], _ combine: ([Double]) -> Double
) -> ReferenceTensor {
  ReferenceTensor(shape: shape) { p in combine(inputs.map { $0.broadcast(p) }) }
}
