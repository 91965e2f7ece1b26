import Accelerate
import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// Removes two rows and columns at each border of the input.
final class ResCropBlockLambda: NSObject, MLCustomLayer {
  required init(parameters: [String: Any]) throws { super.init() }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      let shape = try PlaneShape(planes: shapes[0])
      guard shape.height > 4, shape.width > 4 else { throw LayerFault.shape(shapes) }
      return [
        shape.with(channels: shape.channels, height: shape.height - 4, width: shape.width - 4)
      ]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    let shape = try PlaneShape(planes: inputs[0].sizes)
    let (rows, columns) = (shape.height - 4, shape.width - 4)
    for plane in 0..<shape.images * shape.channels {
      vDSP_mmov(
        x + plane * shape.area + 2 * shape.width + 2, y + plane * rows * columns,
        vDSP_Length(columns), vDSP_Length(rows), vDSP_Length(shape.width), vDSP_Length(columns))
    }
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("ResCropBlockLambda")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      try kernel.encode(commandBuffer, inputs, outputs)
    }
  #endif
}
