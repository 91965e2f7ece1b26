import CoreMLModel
import TensorCore

extension ReorganizeData: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    let r = blockSize
    let (n, area, width) = (input.images, input.area, input.width)
    let operation: StridedCopyOperation
    switch mode {
    case .spaceToDepth:
      operation = StridedCopyOperation(
        kind: "space to depth",
        sizes: [n, r, r, input.channels, output.height, output.width],
        strides: [input.itemCount, width, 1, area, r * width, r])
    case .depthToSpace:
      operation = StridedCopyOperation(
        kind: "depth to space",
        sizes: [n, output.channels, input.height, r, width, r],
        strides: [
          input.itemCount, area, width, r * output.channels * area, 1, output.channels * area,
        ])
    case .pixelShuffle:
      operation = StridedCopyOperation(
        kind: "pixel shuffle",
        sizes: [n, output.channels, input.height, r, width, r],
        strides: [input.itemCount, r * r * area, width, r * area, 1, area])
    }
    try require(
      r > 0 && operation.sizes.reduce(1, *) == input.count,
      "\(blockSize) does not divide \(input.dimensions)", field: "blockSize")
    return [layer.add(operation, layer.inputs, output)]
  }
}

extension SequenceRepeat: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    if output == input { return layer.inputs }
    let operation = StridedCopyOperation(
      kind: "sequence repeat", sizes: [output.sequence / input.sequence, input.count],
      strides: [0, 1])
    return [layer.add(operation, layer.inputs, output)]
  }
}
