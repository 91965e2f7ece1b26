import CoreMLModel
import TensorCore

/// Changes of the size of images.
let resizeRules: [OperationRule] = [
  OperationRule(
    "upsample_nearest_neighbor", "x scale_factor_height? scale_factor_width?",
    "each pixel several times"
  ) { try $0.upsampled(.nearest, .default) },
  OperationRule(
    "upsample_bilinear", "x scale_factor_height? scale_factor_width? align_corners?",
    "an image enlarged with interpolation"
  ) { call in
    let aligns = try call.bool("align_corners", true)
    return try call.upsampled(.bilinear, aligns ? .alignCornersTrue : .alignCornersFalse)
  },
  OperationRule(
    "resize_nearest_neighbor", "x target_size_height target_size_width",
    "each pixel several times, to a size that is a multiple"
  ) { call in
    let x = try call.value("x")
    let size = [try call.int("target_size_height") ?? 0, try call.int("target_size_width") ?? 0]
    try require(
      x.rank > 2 && zip(size, x.shape.suffix(2)).allSatisfy { $0 > 0 && $0 % $1 == 0 },
      .unsupported, "resizing \(x.shape) to \(size), which is not a multiple")
    var layer = Upsample()
    layer.scalingFactor = zip(size, x.shape.suffix(2)).map { $0 / $1 }
    return [try call.asImages(x) { try call.add(layer, $0) }]
  },
  OperationRule(
    "resize_bilinear", "x target_size_height target_size_width sampling_mode?",
    "an image of another size, interpolated"
  ) { call in
    var layer = ResizeBilinear()
    layer.targetSize = [
      try call.int("target_size_height") ?? 0, try call.int("target_size_width") ?? 0,
    ]
    switch try call.string("sampling_mode", "DEFAULT") {
    case "STRICT_ALIGN_CORNERS": layer.mode = .strictAlignEndpoints
    case "ALIGN_CORNERS": layer.mode = .alignEndpoints
    case "DEFAULT": layer.mode = .upsample
    case "OFFSET_CORNERS": layer.mode = .roiAlign
    case let mode: throw ModelError(.unsupported, "the mode '\(mode)'", field: "sampling_mode")
    }
    return [try call.asImages(call.value("x")) { try call.add(layer, $0) }]
  },
  OperationRule(
    "pixel_shuffle", "x upscale_factor",
    "channels as blocks of pixels: larger images of fewer channels"
  ) { try $0.reorganized(.pixelShuffle, "upscale_factor") },
  OperationRule(
    "space_to_depth", "x block_size", "blocks of pixels as channels"
  ) { try $0.reorganized(.spaceToDepth, "block_size") },
  OperationRule(
    "depth_to_space", "x block_size", "channels as blocks of pixels, the block's places outermost"
  ) { try $0.reorganized(.depthToSpace, "block_size") },
]

extension OperationCall {
  /// What `body` makes of images, whose last axes are C, H and W.
  fileprivate func asImages(
    _ x: ProgramValue, _ body: (ProgramValue) throws -> ProgramValue
  ) throws -> ProgramValue {
    try require(x.rank >= 3, "the input has rank \(x.rank)", field: "x")
    return try body(x)
  }

  fileprivate func upsampled(
    _ mode: Upsample.InterpolationMode, _ corners: Upsample.LinearUpsampleMode
  ) throws -> [ProgramValue] {
    let factors = [try float("scale_factor_height", 1), try float("scale_factor_width", 1)]
    try require(
      factors.allSatisfy { $0 > 0 && $0 <= Float(1 << 16) }, "factors of \(factors)",
      field: "scale_factor_height")
    var layer = Upsample()
    layer.mode = mode
    layer.linearUpsampleMode = corners
    if factors.allSatisfy({ $0 == $0.rounded() }) {
      layer.scalingFactor = factors.map { Int($0) }
    } else {
      try require(mode == .bilinear, .unsupported, "factors of \(factors) for the nearest neighbor")
      layer.fractionalScalingFactor = factors
    }
    return [try asImages(value("x")) { try add(layer, $0) }]
  }

  fileprivate func reorganized(_ mode: ReorganizeData.Mode, _ size: String) throws
    -> [ProgramValue]
  {
    var layer = ReorganizeData()
    layer.mode = mode
    layer.blockSize = try int(size) ?? 0
    let x = try value("x")
    try require(x.rank == 4, "the input has rank \(x.rank)", field: "x")
    return [layer.blockSize == 1 ? x : try add(layer, x)]
  }
}
