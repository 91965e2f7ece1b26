import Interpretation
import TensorCore

/// The operation of a layer type, which computes tops from bottoms, settings and weights.
struct CaffeOperation: Sendable {
  /// The allowed number of bottoms.
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

  /// An elementwise function that depends on the settings.
  static func each(
    _ function: @escaping @Sendable (LayerRun) throws -> (Double) -> Double
  ) -> CaffeOperation {
    .one { layer in try layer.input.map(function(layer)) }
  }
}

/// Every supported layer type.
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
