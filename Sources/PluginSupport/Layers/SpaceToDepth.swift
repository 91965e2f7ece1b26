import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// Arranges blocks of b × b positions as channels.
final class SpaceToDepth: NSObject, MLCustomLayer {
  private let blocks: BlockArrangement
  /// The channels of the image with fewer channels, for the kernel.
  private var channels = 0

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    blocks = BlockArrangement(
      size: try values.int("block_size", "blocksize", "scale", "size", in: 1...1024) ?? 2,
      order: try values.choice("mode", of: ["DCR", "CRD"])
        .flatMap(BlockArrangement.Order.init) ?? .depthLast)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    let size = blocks.size
    return try LayerShapes.outputs(inputShapes) { shapes in
      let shape = try PlaneShape(planes: shapes[0])
      guard shape.height % size == 0, shape.width % size == 0 else {
        throw LayerFault.shape(shapes)
      }
      channels = shape.channels
      return [
        shape.with(
          channels: shape.channels * size * size, height: shape.height / size,
          width: shape.width / size)
      ]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    let size = blocks.size
    blocks.forEachRow(of: PlaneShape(inputs[0].sizes)) { deep, wide, count in
      for index in 0..<count { y[deep + index] = x[wide + index * size] }
    }
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("SpaceToDepth")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      try kernel.encode(
        commandBuffer, inputs, outputs,
        numbers: [blocks.size, blocks.order == .depthLast ? 1 : 0, channels])
    }
  #endif
}
