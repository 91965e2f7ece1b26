import CoreMLModel
import TensorCore

extension Pooling: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let x = try layer.planes()
    let hasOpenSizes = layer.builder.hasOpenSizes
    func whole() throws -> [Variable] {
      // Passes can move an axis of length 1 that nothing reads.
      let long = [2, 3].filter { x.shape[$0] > 1 }
      let operation =
        switch type {
        case .max: "reduce_max"
        case .average: "reduce_mean"
        case .l2: "reduce_l2_norm"
        }
      return [try layer.reduce(operation, x, hasOpenSizes || long.isEmpty ? [2, 3] : long)]
    }
    if globalPooling { return try whole() }
    let (kernel, strides) = try effectiveSizes()
    let output = try LayerCall.merged(layer.fiveOutput())
    let border = try explicitPadding(Array(x.shape[2...]))
    let before = [border.top, border.left]
    // The padding after the image is as large as the last window needs.
    let after = (0..<2).map { axis -> Int in
      let end: Int = (output[axis + 2] - 1) * strides[axis] + kernel[axis]
      return max(0, end - x.shape[axis + 2] - before[axis])
    }
    if !hasOpenSizes, kernel + [1, 1] == Array(x.shape[2...] + output[2...]),
      before + after == [0, 0, 0, 0]
    {
      return try whole()
    }
    var same: SamePadding?
    if case .same(let stated)? = padding { same = stated }
    var arguments: [(String, Argument)] = [
      ("kernel_sizes", .ints(kernel)), ("strides", .ints(strides)),
    ]
    arguments +=
      layer.openPadding(same, strides) ?? [
        ("pad_type", .text("custom")), ("pad", .ints([before[0], after[0], before[1], after[1]])),
      ]
    arguments.append(("ceil_mode", .flag(false)))
    switch type {
    case .max: return [try layer.add("max_pool", x, arguments, shape: output)]
    case .l2: return [try layer.add("l2_pool", x, arguments, shape: output)]
    case .average: break
    }
    arguments.append(("exclude_padding_from_average", .flag(avgPoolExcludePadding)))
    let mean = try layer.add("avg_pool", x, arguments, shape: output)
    if avgPoolExcludePadding { return [mean] }
    // If a window extends beyond the padding, only the part inside counts.
    let stated = [border.bottom, border.right]
    let shares = (0..<2).map { axis in
      (0..<output[axis + 2]).map { index in
        let start = index * strides[axis] - before[axis]
        let end = min(start + kernel[axis], x.shape[axis + 2] + stated[axis])
        return Float(kernel[axis]) / Float(max(1, end - start))
      }
    }
    if shares.allSatisfy({ $0.allSatisfy { $0 == 1 } }) { return [mean] }
    let factors = shares[0].flatMap { row in shares[1].map { row * $0 } }
    return [
      try layer.combine(
        "mul", mean, layer.constant(factors, [1, 1, output[2], output[3]], "shares"))
    ]
  }
}

extension Pooling3D: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let windows = try windows(Array(x.shape[2...]))
    var arguments: [(String, Argument)] = [
      ("kernel_sizes", .ints(windows.map(\.kernel))), ("strides", .ints(windows.map(\.stride))),
      ("pad_type", .text("custom")), ("pad", .ints(windows.flatMap { [$0.before, $0.after] })),
      ("ceil_mode", .flag(false)),
    ]
    if type == .average {
      arguments.append(("exclude_padding_from_average", .flag(countExcludePadding)))
    }
    return try layer.add(
      type == .average ? "avg_pool" : "max_pool", x, arguments, shape: layer.outputShapes[0])
  }
}

extension GlobalPooling3D: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let operation = type == .average ? "reduce_mean" : "reduce_max"
    return try layer.reduce(operation, layer.array(), [2, 3, 4])
  }
}

extension Padding: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let border = try explicitPadding()
    let output = [
      x.shape[0], x.shape[1], x.shape[2] + border.top + border.bottom,
      x.shape[3] + border.left + border.right,
    ]
    let (mode, value): (String, Float) =
      switch kind {
      case .reflection: ("reflect", 0)
      case .replication: ("replicate", 0)
      case .constant(let value): ("constant", value)
      case nil: ("constant", 0)
      }
    return try layer.add(
      "pad", x,
      [
        ("pad", .ints([border.top, border.bottom, border.left, border.right])),
        ("mode", .text(mode)), ("constant_val", .number(value)),
      ], shape: output)
  }
}

extension Crop: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let output = try LayerCall.merged(layer.fiveOutput())
    let top = layer.inputs.count == 1 ? cropAmounts?.top ?? 0 : offset.first ?? 0
    let left = layer.inputs.count == 1 ? cropAmounts?.left ?? 0 : offset.last ?? 0
    return try layer.add(
      "slice_by_index", x,
      [
        ("begin", .ints([0, 0, top, left])),
        ("end", .ints([0, 0, top + output[2], left + output[3]])),
        ("begin_mask", .flags([true, true, false, false])),
        ("end_mask", .flags([true, true, false, false])),
      ], shape: output)
  }
}

extension Upsample: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let output = try LayerCall.merged(layer.fiveOutput())
    let factors = try effectiveFactors()
    let scales: [(String, Argument)] = zip(["height", "width"], factors).map { axis, factor in
      ("scale_factor_\(axis)", factor == factor.rounded() ? .int(Int(factor)) : .number(factor))
    }
    if mode == .nearest {
      return try layer.add("upsample_nearest_neighbor", x, scales, shape: output)
    }
    if linearUpsampleMode == .default { return try layer.resizeBilinear(x, output, .upsample) }
    let aligns = linearUpsampleMode == .alignCornersTrue
    return try layer.add(
      "upsample_bilinear", x, scales + [("align_corners", .flag(aligns))], shape: output)
  }
}

extension ResizeBilinear: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.resizeBilinear(
      layer.planes(), LayerCall.merged(layer.fiveOutput()), effectiveMode)
  }
}

extension LayerCall {
  fileprivate func resizeBilinear(
    _ x: Variable, _ shape: [Int], _ mode: SamplingMethod
  ) throws -> Variable {
    try add(
      "resize_bilinear", x,
      [
        ("target_size_height", .int(shape[2])), ("target_size_width", .int(shape[3])),
        ("sampling_mode", .text(mode.operationName)),
      ], shape: shape)
  }
}
