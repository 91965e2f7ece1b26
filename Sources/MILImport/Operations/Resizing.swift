import CoreMLModel
import TensorCore

/// Operations that resize images.
let resizeRules: [OperationRule] = [
  OperationRule(
    "upsample_nearest_neighbor", "x scale_factor_height? scale_factor_width?",
    "repeats each pixel"
  ) { try $0.upsampled(.nearest, .default) },
  OperationRule(
    "upsample_bilinear",
    "x scale_factor_height? scale_factor_width? align_corners? half_pixel_centers?",
    "enlarges an image with bilinear interpolation"
  ) { call in
    let aligns = try call.bool("align_corners", true)
    let hasCenters = try call.bool("half_pixel_centers", !aligns)
    try require(
      !aligns || !hasCenters, .unsupported,
      "align_corners together with half_pixel_centers is not supported",
      field: "half_pixel_centers")
    return try call.upsampled(
      .bilinear, aligns ? .alignCornersTrue : hasCenters ? .alignCornersFalse : .default)
  },
  OperationRule(
    "resize_nearest_neighbor", "x target_size_height target_size_width",
    "resizes an image by nearest neighbor"
  ) { call in
    let x = try call.input(ranks: 3...Int.max)
    let size = [try call.int("target_size_height") ?? 0, try call.int("target_size_width") ?? 0]
    return [try call.repeated(x, size)]
  },
  OperationRule(
    "resize_bilinear", "x target_size_height? target_size_width? sampling_mode?",
    "resizes an image with bilinear interpolation"
  ) { call in
    let x = try call.input(ranks: 3...Int.max)
    let size = [try call.int("target_size_height") ?? 1, try call.int("target_size_width") ?? 1]
    return [try call.resized(x, size, call.samplingGrid())]
  },
  OperationRule(
    "resize", "x shape resized_dims interpolation_mode? sampling_mode?",
    "resizes the last axes of x, by linear interpolation or nearest neighbor"
  ) { call in
    let x = try call.value("x")
    let (shape, count) = (try call.ints("shape") ?? [], try call.int("resized_dims") ?? 0)
    try require(
      count >= 0 && count <= shape.count && shape.count <= x.rank,
      "\(count) of the sizes \(shape) for an input of rank \(x.rank)", field: "resized_dims")
    // 0 keeps the size.
    let sizes = zip(shape.suffix(count), x.shape.suffix(count)).map { $0 == 0 ? $1 : $0 }
    let grid = try call.samplingGrid()
    switch try call.string("interpolation_mode", "LINEAR") {
    case "LINEAR": return [try call.resized(x, sizes, grid)]
    case "NEAREST_NEIGHBOR":
      // Ties go to the lower pixel.
      return [
        try call.resizedToNearest(x, sizes) {
          Int((grid.points($1, of: $2)[$0] - 0.5).rounded(.up))
        }
      ]
    case let mode:
      throw ModelError(.unsupported, "mode '\(mode)' is not supported", field: "interpolation_mode")
    }
  },
  OperationRule(
    "pixel_shuffle", "x upscale_factor",
    "moves channels to blocks of pixels: larger images with fewer channels"
  ) { try $0.reorganized(.pixelShuffle, "upscale_factor") },
  OperationRule(
    "space_to_depth", "x block_size", "moves blocks of pixels to channels"
  ) { try $0.reorganized(.spaceToDepth, "block_size") },
  OperationRule(
    "depth_to_space", "x block_size",
    "moves channels to blocks of pixels, with the position in the block outermost"
  ) { try $0.reorganized(.depthToSpace, "block_size") },
]

extension OperationCall {
  /// Pixel i of `size` is pixel ⌊i · old / size⌋ of the old image.
  fileprivate func repeated(_ x: ProgramValue, _ sizes: [Int]) throws -> ProgramValue {
    let pairs = zip(sizes, x.shape.suffix(2))
    guard pairs.allSatisfy({ $0 > 0 && $0 % $1 == 0 }) else {
      return try resizedToNearest(x, sizes) { $0 * $2 / $1 }
    }
    return try add(Upsample().with(\.scalingFactor, pairs.map { $0 / $1 }), x)
  }

  fileprivate func upsampled(
    _ mode: Upsample.InterpolationMode, _ corners: Upsample.LinearUpsampleMode
  ) throws -> [ProgramValue] {
    let factors = [try float("scale_factor_height", 1), try float("scale_factor_width", 1)]
    let x = try input(ranks: 3...Int.max)
    try require(
      factors.allSatisfy { $0 > 0 && $0 <= Float(1 << 16) }, "factors of \(factors)",
      field: "scale_factor_height")
    let isWhole = factors.allSatisfy { $0 == $0.rounded() }
    if !isWhole, mode == .nearest || corners == .default {
      let sizes = zip(factors, x.shape.suffix(2)).map { Int($0 * Float($1)) }
      return [
        mode == .nearest ? try repeated(x, sizes) : try resized(x, sizes, SamplingGrid.default)
      ]
    }
    let layer = Upsample().with(\.mode, mode).with(\.linearUpsampleMode, corners)
    return [
      try add(
        isWhole
          ? layer.with(\.scalingFactor, factors.map { Int($0) })
          : layer.with(\.fractionalScalingFactor, factors), x)
    ]
  }

  fileprivate func reorganized(_ mode: ReorganizeData.Mode, _ size: String) throws -> [ProgramValue]
  {
    let (x, size) = (try input(ranks: 4...4), try int(size) ?? 0)
    if size == 1 { return [x] }
    return [try add(ReorganizeData().with(\.mode, mode).with(\.blockSize, size), x)]
  }
}
