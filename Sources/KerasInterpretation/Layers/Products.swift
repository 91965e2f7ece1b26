import Interpretation
import TensorCore

/// Dense and Embedding.
enum Products {
  static let operations: [String: KerasOperations.Operation] = [
    "Dense": dense, "TimeDistributedDense": dense, "Embedding": embedding,
  ]

  /// x · W along the last axis, for shapes `[…, m]` and `[m, n]`.
  static func product(_ x: DoubleArray, _ weights: DoubleArray) throws -> DoubleArray {
    guard weights.rank == 2, let inner = x.shape.last, inner == weights.shape[0] else {
      throw ModelError(.mismatch, "\(x.shape) is multiplied by \(weights.shape)")
    }
    let width = weights.shape[1]
    var result = try DoubleArray(shape: Array(x.shape.dropLast()) + [width])
    for row in 0..<(inner == 0 ? 0 : x.count / inner) {
      for index in 0..<inner {
        let factor = x.values[row * inner + index]
        if factor == 0 { continue }
        for column in 0..<width {
          result.values[row * width + column] += factor * weights.values[index * width + column]
        }
      }
    }
    return result
  }

  private static func dense(_ run: LayerRun) throws -> [KerasValue] {
    var result = try product(run.input, run.weight(0, rank: 2))
    if run.weights.count > 1 {
      result = Elements.adding(result, try run.vector(1, result.shape.last ?? 0))
    }
    return [KerasValue(array: try run.activated(result, "activation"), mask: run.inputs[0].mask)]
  }

  static func embedding(_ run: LayerRun) throws -> [KerasValue] {
    let table = try run.weight(0, rank: 2)
    let width = table.shape[1]
    var values: [Double] = []
    // Keras casts indices to integers.
    for index in run.input.values.map({ $0.rounded(.towardZero) }) {
      guard index >= 0, index < Double(table.shape[0]) else {
        throw ModelError(.mismatch, "the index \(index) is not in its table of \(table.shape[0])")
      }
      let row = Int(index) * width
      values += table.values[row..<row + width]
    }
    let mask = run.bool("mask_zero") ? run.input.map { $0 == 0 ? 0 : 1 } : nil
    return [KerasValue(array: DoubleArray(shape: run.input.shape + [width], values), mask: mask)]
  }
}
