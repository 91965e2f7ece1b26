import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// Resizes planes, by the nearest position or interpolation between four.
final class Resize: NSObject, MLCustomLayer {
  private enum Size {
    case fixed(Int)
    case scaled(Double)
  }

  private let height: Size
  private let width: Size
  private let sampling: AxisSampling

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    func size(_ name: String) throws -> Size {
      if let fixed = try values.int(name, in: 1...1 << 30) { return .fixed(fixed) }
      guard let scale = try values.float("scale_\(name)", "scale", "scale_factor"), scale > 0 else {
        throw LayerFault.parameter(name)
      }
      return .scaled(Double(scale))
    }
    height = try size("height")
    width = try size("width")
    let usual = try values.text("engineName") == "ResizeNearestNeighbor" ? "nearest" : "bilinear"
    let mode = try values.choice("mode", "interpolation", of: ["nearest", "bilinear"]) ?? usual
    sampling = AxisSampling(
      isNearest: mode == "nearest", alignsCorners: try values.bool("align_corners") ?? false,
      usesHalfPixels: try values.bool("half_pixel", "half_pixel_centers") ?? false)
    guard !sampling.alignsCorners || !sampling.usesHalfPixels else {
      throw LayerFault.parameter("align_corners")
    }
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      let shape = try PlaneShape(planes: shapes[0])
      func length(_ size: Size, of input: Int) throws -> Int {
        switch size {
        case .fixed(let length): return length
        case .scaled(let scale):
          let length = (Double(input) * scale).rounded(.down)
          guard length >= 1, length < 0x1p30 else { throw LayerFault.shape(shapes) }
          return Int(length)
        }
      }
      return [
        shape.with(
          channels: shape.channels, height: try length(height, of: shape.height),
          width: try length(width, of: shape.width))
      ]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    sampling.resize(
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
          sampling.table(of: inputs[0].height, in: outputs[0].height),
          sampling.table(of: inputs[0].width, in: outputs[0].width),
        ],
        numbers: [2])
    }
  #endif
}
