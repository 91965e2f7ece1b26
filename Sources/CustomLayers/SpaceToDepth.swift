import TensorCore

/// The parameters that both directions share.
class BlockLayer {
  let blocks: BlockArrangement
  var size: Int { blocks.size }

  required init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    blocks = BlockArrangement(
      size: try values.int("block_size", "blocksize", "scale", "size", in: 1...1024) ?? 2,
      order: try values.choice("mode", of: ["DCR", "CRD"])
        .flatMap(BlockArrangement.Order.init) ?? .depthLast)
  }

  static let parameterNotes = [
    "`block_size`, `scale` or `size` (2)",
    "`mode`: `DCR`, TensorFlow's channel order, or `CRD`, PyTorch's (`DCR`)",
  ]
}

/// Moves the positions of each b × b block to channels.
final class SpaceToDepth: BlockLayer, BuiltInCustomLayer {
  static let className = "SpaceToDepth"
  static let otherNames = ["PixelUnshuffle"]
  static let notes = CustomLayerNotes(
    "y[(i · b + j) · C + c, h, w] = x[c, h · b + i, w · b + j]; CRD: y[c · b² + i · b + j, h, w]",
    parameters: parameterNotes)

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try PlaneShape(planes: onlyInput(inputShapes))
    try require(
      shape.height % size == 0 && shape.width % size == 0,
      "\(shape.height) × \(shape.width) positions are not divisible into blocks of \(size)",
      field: "parameters.block_size")
    return [
      shape.with(
        channels: try checkedProduct([shape.channels, size, size], limit: Limits.dimension),
        height: shape.height / size, width: shape.width / size)
    ]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    blocks.forEachRow(of: PlaneShape(inputs[0].shape)) { deep, start, count in
      for index in 0..<count { target[deep + index] = source[start + index * size] }
    }
  }
}

/// Moves the channels of each position to a block of b × b positions.
final class DepthToSpace: BlockLayer, BuiltInCustomLayer {
  static let className = "DepthToSpace"
  static let otherNames = ["PixelShuffle"]
  static let notes = CustomLayerNotes(
    "y[c, h · b + i, w · b + j] = x[(i · b + j) · C + c, h, w]; CRD: x[c · b² + i · b + j, h, w]",
    parameters: parameterNotes)

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try PlaneShape(planes: onlyInput(inputShapes))
    try require(
      shape.channels % (size * size) == 0,
      "\(shape.channels) channels are not divisible into blocks of \(size) × \(size)",
      field: "parameters.block_size")
    return [
      shape.with(
        channels: shape.channels / (size * size),
        height: try checkedProduct([shape.height, size], limit: Limits.dimension),
        width: try checkedProduct([shape.width, size], limit: Limits.dimension))
    ]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    blocks.forEachRow(of: PlaneShape(outputs[0].shape)) { deep, start, count in
      for index in 0..<count { target[start + index * size] = source[deep + index] }
    }
  }
}
