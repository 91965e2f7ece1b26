import CoreMLModel
import TensorCore

let resizingRules: [String: ONNXRule] = [
  "upsample_nearest_neighbor": { [try $0.enlarged("nearest", "asymmetric")] },
  "upsample_bilinear": one { call in
    let aligns = try call.bool("align_corners", true)
    let hasCenters = try call.bool("half_pixel_centers", !aligns)
    return try call.enlarged(
      "linear", aligns ? "align_corners" : hasCenters ? "half_pixel" : "asymmetric")
  },
  "resize_nearest_neighbor": { call in
    let sizes = [try call.int("target_size_height", 1), try call.int("target_size_width", 1)]
    return [try call.resized("nearest", sizes, ("asymmetric", "floor"))]
  },
  "resize_bilinear": { call in
    let sizes = [try call.int("target_size_height", 1), try call.int("target_size_width", 1)]
    return [try call.resized("linear", sizes, call.grid())]
  },
  "resize": { call in
    let mode = try call.string("interpolation_mode", "LINEAR")
    let name = try ["LINEAR": "linear", "NEAREST_NEIGHBOR": "nearest"][mode].orThrow(
      call.unsupported("mode '\(mode)' is not supported", field: "interpolation_mode"))
    let (x, shape) = (try call.value("x"), try call.ints("shape") ?? [])
    let count = try call.int("resized_dims", 0)
    try require(count >= 0 && count <= min(shape.count, x.rank), "\(count)", field: "resized_dims")
    // 0 keeps the size.
    let sizes = try zip(shape.suffix(count), x.shape.suffix(count)).map { size, old in
      if size != 0 { return size }
      guard let old else { throw call.unsupported("a size is not known", field: "x") }
      return old
    }
    return [try call.resized(name, sizes, call.grid())]
  },
  "resample": { try $0.resampled() },
  "pixel_shuffle": { [try $0.blocks("DepthToSpace", "upscale_factor", "CRD")] },
  "depth_to_space": { [try $0.blocks("DepthToSpace", "block_size", "DCR")] },
  "space_to_depth": { [try $0.blocks("SpaceToDepth", "block_size", nil)] },
  "pixel_unshuffle": one { call in
    let (x, factor) = (try call.value("x"), try call.int("downscale_factor", 1))
    guard let s = x.sizes, s.count == 4, factor > 0 else {
      throw call.unsupported("the sizes are not known", field: "x")
    }
    let parts = try call.reshape(x, [s[0], s[1], s[2] / factor, factor, s[3] / factor, factor])
    let moved = try call.transpose(parts, [0, 1, 3, 5, 2, 4])
    return try call.reshape(moved, [s[0], -1, s[2] / factor, s[3] / factor])
  },
]

extension ExportedOperation {
  fileprivate func blocks(_ type: String, _ size: String, _ mode: String?) throws -> GraphValue {
    try add(
      type, [value("x")],
      [("blocksize", .int(int(size, 1)))] + (mode.map { [("mode", .string($0))] } ?? []))
  }

  fileprivate func resampled() throws -> [GraphValue] {
    try graph.require(opset: 16, "operator that samples at points")
    let (x, grid) = (try value("x"), try value("coordinates"))
    let aligns = try bool("align_corners")
    let padding = try string("padding_mode", "")
    // Reflection at the centers of the corners, or at the edges.
    let mirror = aligns ? "reflection" : "symmetric"
    let names = ["constant": "zeros", "border": "border", mirror: "reflection"]
    let fill = padding == "constant" ? try float("padding_value", 0) : 0
    let modes = ["bilinear": graph.opset < 20 ? "bilinear" : "linear", "nearest": "nearest"]
    guard let name = names[padding], fill == 0,
      let mode = try modes[string("sampling_mode", "").lowercased()],
      try string("coordinates_mode", "") == "normalized_minus_one_to_one"
    else { throw unsupported("ONNX's GridSample has no such coordinates or padding") }
    return [
      try add(
        "GridSample", [x, cast(grid, to: x.type)],
        [
          ("mode", .string(mode)), ("padding_mode", .string(name)),
          ("align_corners", .int(aligns ? 1 : 0)),
        ])
    ]
  }

  /// Resizes the last two axes by factors.
  fileprivate func enlarged(_ mode: String, _ coordinates: String) throws -> GraphValue {
    let x = try value("x")
    let factors = [try float("scale_factor_height", 1), try float("scale_factor_width", 1)]
    // The distance of the points is the ratio of the sizes, which a fraction only approximates.
    if let sizes = try declared().sizes, factors.contains(where: { $0 != $0.rounded() }) {
      return try resized(mode, Array(sizes.suffix(2)), (coordinates, "floor"))
    }
    let scales = [Float](repeating: 1, count: max(0, x.rank - 2)) + factors
    return try add(
      "Resize", [x, .missing, array(scales, [scales.count], .float32)],
      attributes(mode, (coordinates, "floor")))
  }

  /// Resizes the last axes to sizes. An axis that keeps its size is not sampled.
  fileprivate func resized(
    _ mode: String, _ sizes: [Int], _ grid: (coordinates: String, nearest: String)
  ) throws -> GraphValue {
    let x = try value("x")
    let lead = x.rank - sizes.count
    try require(lead >= 0, "the rank is \(x.rank)", field: "x")
    if let known = x.sizes {
      return try add(
        "Resize", [x, .missing, .missing, list(Array(known[..<lead]) + sizes)],
        attributes(mode, grid))
    }
    let shape = try add("Shape", [x], type: .int64, shape: [x.rank])
    let kept = try add("Slice", [shape, list([0]), list([lead])], shape: [lead])
    let all = try add("Concat", [kept, list(sizes)], [("axis", .int(0))])
    return try add("Resize", [x, .missing, .missing, all], attributes(mode, grid))
  }

  private func attributes(
    _ mode: String, _ grid: (coordinates: String, nearest: String)
  ) -> [(String, AttributeValue)] {
    [
      ("mode", .string(mode)), ("coordinate_transformation_mode", .string(grid.coordinates)),
    ] + (mode == "nearest" ? [("nearest_mode", .string(grid.nearest))] : [])
  }

  fileprivate func grid() throws -> (coordinates: String, nearest: String) {
    let names = [
      "STRICT_ALIGN_CORNERS": "align_corners", "ALIGN_CORNERS": "align_corners",
      "DEFAULT": "asymmetric", "UNALIGN_CORNERS": "half_pixel",
    ]
    let mode = try string("sampling_mode", "DEFAULT")
    let name = try names[mode].orThrow(
      unsupported("ONNX's Resize has no mode like \(mode)", field: "sampling_mode"))
    return (name, "round_prefer_floor")
  }
}
