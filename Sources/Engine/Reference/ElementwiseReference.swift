import CoreMLModel
import TensorCore

/// A reference implementation that is a function of the elements of all inputs at one position,
/// after broadcasting.
protocol CombinationReference: ReferenceFormula { func reference(_ values: [Double]) -> Double }

extension CombinationReference {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in reference(inputs.map { $0.broadcast(index) }) }
  }
}

extension Add: CombinationReference {
  func reference(_ values: [Double]) -> Double {
    values.count == 1 ? values[0] + Double(alpha) : values.reduce(0, +)
  }
}

extension Multiply: CombinationReference {
  func reference(_ values: [Double]) -> Double {
    values.count == 1 ? values[0] * Double(alpha) : values.reduce(1, *)
  }
}

extension Average: CombinationReference {
  func reference(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
}

extension Max: CombinationReference {
  func reference(_ values: [Double]) -> Double { values.dropFirst().reduce(values[0], Swift.max) }
}

extension Min: CombinationReference {
  func reference(_ values: [Double]) -> Double { values.dropFirst().reduce(values[0], Swift.min) }
}

extension DotProduct: ReferenceFormula {
  /// Σ a·b, of normalized vectors if `cosineSimilarity` is set.
  ///
  /// Squared lengths are at least 1e-12, as in the `l2_normalize` of Keras's backends, so that a
  /// zero vector gives 0.
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let channels = inputs[0].channels
    func products(
      _ a: ReferenceTensor, _ b: ReferenceTensor, _ p: ReferenceTensor.Position
    ) -> Double {
      (0..<channels).reduce(0) { sum, channel in
        var position = p
        position.channel = channel
        return sum + a.broadcast(position) * b.broadcast(position)
      }
    }
    return try planeOutput(inputs) { p in
      let sum = products(inputs[0], inputs[1], p)
      if !cosineSimilarity { return sum }
      let squares = inputs.map { Swift.max(products($0, $0, p), 1e-12) }
      return sum / (squares[0].squareRoot() * squares[1].squareRoot())
    }
  }
}
