import CoreML
import Foundation

/// The shortest x that minimizes ‖A·x − b‖, for A transposed, […, n, m], and b […, m]; also the
/// residuals (0), the rank of A and its singular values.
///
/// Core ML runs it on the CPU: singular values need double precision, which GPUs lack.
final class LeastSquares: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws {
    _ = try LayerParameters(parameters).choice("driver", of: ["gelsd"])
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes, inputs: 2...2) { shapes in
      let (a, b) = (shapes[0], shapes[1])
      guard a.count >= 2, b == a.dropLast(2) + [a[a.count - 1]] else {
        throw LayerFault.shape(shapes)
      }
      let batches = Array(a.dropLast(2))
      let one = batches.isEmpty ? [1] : batches
      return [batches + [a[a.count - 2]], one, one, batches + [a[a.count - 1]]]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let shape = inputs[0].sizes
    LeastSquaresSolver.solve(
      try inputs[0].floats(), try inputs[1].floats(), batches: shape.dropLast(2).reduce(1, *),
      n: shape[shape.count - 2], m: shape[shape.count - 1],
      outputs: try outputs.map { try $0.floats() })
  }
}
