import Interpretation
import TensorCore

/// What a layer type computes: its tops, from its bottoms, settings and weights.
struct CaffeOperation: Sendable {
  /// How many bottoms there may be.
  let bottoms: ClosedRange<Int>
  let run: @Sendable (LayerRun) throws -> [DoubleArray]

  init(
    bottoms: ClosedRange<Int> = 1...1,
    _ run: @escaping @Sendable (LayerRun) throws -> [DoubleArray]
  ) {
    self.bottoms = bottoms
    self.run = run
  }

  /// An operation with one top.
  static func one(
    bottoms: ClosedRange<Int> = 1...1,
    _ run: @escaping @Sendable (LayerRun) throws -> DoubleArray
  ) -> CaffeOperation {
    CaffeOperation(bottoms: bottoms) { [try run($0)] }
  }

  /// A function of each element, which the settings choose.
  static func each(
    _ function: @escaping @Sendable (LayerRun) throws -> (Double) -> Double
  ) -> CaffeOperation {
    .one { layer in try layer.input.map(function(layer)) }
  }
}

/// Every layer type that is interpreted.
enum CaffeOperations {
  static let byType: [String: CaffeOperation] = {
    var all = activations
    for family in [
      convolutions, products, poolings, normalizations, combinations, shapes, reductions,
      recurrences, resizings, detections, regions,
    ] {
      all.merge(family) { first, _ in first }
    }
    return all
  }()
}
