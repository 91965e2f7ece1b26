import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// Bicubic upsampling by a factor, as OpenCV's `INTER_CUBIC`.
final class ImResize: NSObject, MLCustomLayer {
  private let factor: Float
  private let height: Int
  private let width: Int

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    factor = try values.float("factor") ?? 1
    height = try values.int("target_spatial_height", in: 0...1 << 30) ?? 0
    width = try values.int("target_spatial_width", in: 0...1 << 30) ?? 0
    guard factor > 0 || height > 0 && width > 0 else { throw LayerFault.parameter("factor") }
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      let shape = try PlaneShape(planes: shapes[0])
      func length(_ input: Int, _ stated: Int) throws -> Int {
        let length = stated > 0 ? Double(stated) : (Double(input) * Double(factor)).rounded(.down)
        guard length >= 1, length < 0x1p30 else { throw LayerFault.shape(shapes) }
        return Int(length)
      }
      return [
        shape.with(
          channels: shape.channels, height: try length(shape.height, height),
          width: try length(shape.width, width))
      ]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    CubicSampling.resize(
      try inputs[0].floats(), PlaneShape(inputs[0].sizes), to: try outputs[0].floats(),
      PlaneShape(outputs[0].sizes))
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("Resampling")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      try kernel.encode(
        commandBuffer, inputs, outputs,
        tables: [
          CubicSampling.table(of: inputs[0].height, in: outputs[0].height),
          CubicSampling.table(of: inputs[0].width, in: outputs[0].width),
        ],
        numbers: [4])
    }
  #endif
}
