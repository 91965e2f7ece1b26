import Accelerate
import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// The product of a row […, 1, k] and a matrix […, k, n].
final class RowProduct: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes, inputs: 2...2) { shapes in
      let (a, b) = (shapes[0], shapes[1])
      guard a.count >= 2, b.count >= 2, a[a.count - 2] == 1, a[a.count - 1] == b[b.count - 2],
        a.dropLast(2) == b.dropLast(2)
      else { throw LayerFault.shape(shapes) }
      return [b.dropLast(2) + [1, b[b.count - 1]]]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (a, b, y) = (try inputs[0].floats(), try inputs[1].floats(), try outputs[0].floats())
    let shape = inputs[1].sizes
    let (terms, count) = (shape[shape.count - 2], shape[shape.count - 1])
    for item in 0..<shape.dropLast(2).reduce(1, *) {
      let result = y + item * count
      vDSP_vclr(result, 1, vDSP_Length(count))
      for term in item * terms..<(item + 1) * terms {
        vDSP_vsma(b + term * count, 1, a + term, result, 1, result, 1, vDSP_Length(count))
      }
    }
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("RowProduct")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      try kernel.encode(commandBuffer, inputs, outputs)
    }
  #endif
}
