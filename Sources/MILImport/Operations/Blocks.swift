import CoreMLModel
import TensorCore

/// Operations that move pixels between the axes of images [N, C, H, W], and that crop images.
let blockRules: [OperationRule] = [
  OperationRule(
    "space_to_batch", "x block_shape paddings", "moves each pixel of a block to a separate image"
  ) { call in
    let x = try call.input(ranks: 4...4)
    let (block, edges) = try call.blocks("paddings")
    let padded =
      try edges.allSatisfy { $0 == 0 }
      ? x : call.add(ConstantPad().with(\.padAmounts, [0, 0, 0, 0] + edges), x)
    let parts = try call.split(padded, by: block)
    let moved = try call.transposed(parts, [3, 5, 0, 1, 2, 4])
    let s = moved.shape
    return [try call.reshaped(moved, [s[0] * s[1] * s[2], s[3], s[4], s[5]])]
  },
  OperationRule(
    "batch_to_space", "x block_shape crops", "combines the pixels of several images into blocks"
  ) { call in
    let x = try call.input(ranks: 4...4)
    let (block, edges) = try call.blocks("crops")
    let s = x.shape
    let count = try checkedProduct(block, limit: Limits.dimension)
    try require(s[0] % count == 0, "\(s[0]) images for blocks of \(count)", field: "block_shape")
    let parts = try call.reshaped(x, block + [s[0] / count, s[1], s[2], s[3]])
    let moved = try call.transposed(parts, [2, 3, 4, 0, 5, 1])
    let joined = try call.reshaped(
      moved, [s[0] / count, s[1], s[2] * block[0], s[3] * block[1]])
    return [try call.cropped(joined, edges)]
  },
  OperationRule(
    "pixel_unshuffle", "x downscale_factor",
    "moves blocks of pixels to channels: smaller images with more channels"
  ) { call in
    let x = try call.input(ranks: 4...4)
    let factor = try call.int("downscale_factor") ?? 0
    try require(factor > 0 && factor <= Limits.dimension, "\(factor)", field: "downscale_factor")
    let parts = try call.split(x, by: [factor, factor])
    let moved = try call.transposed(parts, [0, 1, 3, 5, 2, 4])
    let s = moved.shape
    return [try call.reshaped(moved, [s[0], s[1] * s[2] * s[3], s[4], s[5]])]
  },
  OperationRule("crop", "x crop_height crop_width", "crops images") { call in
    let x = try call.input(ranks: 3...Int.max)
    return [try call.cropped(x, call.cropping())]
  },
]

extension OperationCall {
  /// The height and width of a block, and the amounts at the top, bottom, left and right.
  fileprivate func blocks(_ amounts: String) throws -> (size: [Int], edges: [Int]) {
    let (size, edges) = (try ints("block_shape") ?? [], try ints(amounts) ?? [])
    try require(
      size.count == 2 && size.allSatisfy { $0 > 0 && $0 <= Limits.dimension },
      "\(size); a height and a width are needed", field: "block_shape")
    try require(
      edges.count == 4 && edges.allSatisfy { $0 >= 0 && $0 <= Limits.dimension },
      "\(edges); two amounts for each of two axes are needed", field: amounts)
    return (size, edges)
  }

  /// Reshapes to [N, C, H / h, h, W / w, w].
  fileprivate func split(_ x: ProgramValue, by block: [Int]) throws -> ProgramValue {
    let s = x.shape
    try require(
      s[2] % block[0] == 0 && s[3] % block[1] == 0,
      "\(s[2]) × \(s[3]) cannot be divided into blocks of \(block[0]) × \(block[1])")
    return try reshaped(x, [s[0], s[1], s[2] / block[0], block[0], s[3] / block[1], block[1]])
  }

  fileprivate func cropped(_ x: ProgramValue, _ edges: [Int]) throws -> ProgramValue {
    if edges.allSatisfy({ $0 == 0 }) { return x }
    let amounts = BorderAmounts(top: edges[0], bottom: edges[1], left: edges[2], right: edges[3])
    return try add(Crop().with(\.cropAmounts, amounts), x)
  }
}
