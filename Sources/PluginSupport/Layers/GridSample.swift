import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// Samples an image at the positions in a second input, [N, 2, H, W], x before y, each −1 to 1.
final class GridSample: NSObject, MLCustomLayer {
  private let sampling: GridSampling

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    sampling = GridSampling(
      isNearest: try values.choice("mode", of: ["bilinear", "nearest"]) == "nearest",
      padding: try values.choice("padding_mode", of: ["zeros", "border", "reflection"])
        .flatMap(GridSampling.Padding.init) ?? .zeros,
      alignsCorners: try values.bool("align_corners") ?? false)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes, inputs: 2...2) { shapes in
      let (image, grid) = (try PlaneShape(planes: shapes[0]), try PlaneShape(planes: shapes[1]))
      guard grid.channels == 2, grid.images == image.images else { throw LayerFault.shape(shapes) }
      return [image.with(channels: image.channels, height: grid.height, width: grid.width)]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    sampling.sample(
      try inputs[0].floats(), PlaneShape(inputs[0].sizes), at: try inputs[1].floats(),
      to: try outputs[0].floats(), PlaneShape(outputs[0].sizes))
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("GridSample")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      let padding: [GridSampling.Padding] = [.zeros, .border, .reflection]
      try kernel.encode(
        commandBuffer, inputs, outputs,
        numbers: [
          sampling.isNearest ? 1 : 0, padding.firstIndex(of: sampling.padding) ?? 0,
          sampling.alignsCorners ? 1 : 0,
        ])
    }
  #endif
}
