import Accelerate
import CoreML
import Foundation

/// Sums the chunks of one axis of [N, C, H, W].
///
/// Core ML runs it on the CPU: only kraken's text recognition uses it.
final class KrakenAddition: NSObject, MLCustomLayer {
  private let axis: Int
  private let chunk: Int

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    axis = try values.required("dim", in: 0...3)
    chunk = try values.required("chunk_size", in: 1...1 << 30)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      var shape = shapes[0]
      let index = shape.count - 4 + axis
      guard shape.count >= 4, shape[index] >= chunk else { throw LayerFault.shape(shapes) }
      shape[index] = chunk
      return [shape]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    guard let view = AxisShape(inputs[0].sizes, along: axis - 4) else {
      throw LayerFault.shape([inputs[0].sizes])
    }
    let length = chunk * view.inner
    for outer in 0..<view.outer {
      let (from, to) = (x + outer * view.length * view.inner, y + outer * length)
      to.update(from: from, count: length)
      // An incomplete chunk is omitted.
      for part in 1..<max(1, view.length / chunk) {
        vDSP_vadd(to, 1, from + part * length, 1, to, 1, vDSP_Length(length))
      }
    }
  }
}
