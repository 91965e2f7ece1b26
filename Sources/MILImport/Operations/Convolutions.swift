import CoreMLModel
import TensorCore

let convolutionRules: [OperationRule] = [
  OperationRule(
    "conv", "x weight bias? strides? pad_type? pad? dilations? groups?",
    "a convolution along one, two or three axes"
  ) { try $0.convolution(isTransposed: false) },
  OperationRule(
    "conv_transpose", "x weight bias? pad? output_shape? pad_type? strides? dilations? groups?",
    "a transposed convolution along one, two or three axes"
  ) { try $0.convolution(isTransposed: true) },
]

/// The windows of a convolution or a pooling along its axes.
package struct Windows {
  package var kernel: [Int]
  package var strides: [Int]
  package var dilations: [Int]
  package var padType: String
  /// The padding before and after each axis.
  package var pad: [(before: Int, after: Int)]

  package init(_ call: some OperationArguments, kernel: [Int]) throws {
    let count = kernel.count
    self.kernel = kernel
    func list(_ name: String) throws -> [Int] {
      let values = try call.ints(name) ?? [Int](repeating: 1, count: count)
      try require(
        values.count == count && values.allSatisfy { $0 > 0 && $0 <= Limits.dimension },
        "\(values); one for each of \(count) axes is needed", field: name)
      return values
    }
    strides = try list("strides")
    dilations = try list("dilations")
    padType = try call.string("pad_type", "valid")
    try require(
      ["valid", "custom", "same", "same_lower"].contains(padType), .unsupported,
      "padding type '\(padType)' is not supported", field: "pad_type")
    let amounts = padType == "custom" ? try call.ints("pad") ?? [] : []
    try require(
      [0, 2 * count].contains(amounts.count)
        && amounts.allSatisfy { $0 >= 0 && $0 <= Limits.dimension },
      "\(amounts); two for each of \(count) axes are needed", field: "pad")
    pad = [(before: Int, after: Int)](repeating: (before: 0, after: 0), count: count)
    for axis in pad.indices where !amounts.isEmpty {
      pad[axis] = (before: amounts[2 * axis], after: amounts[2 * axis + 1])
    }
  }

  /// The windows along two axes: a single axis becomes the second one.
  var planes: Windows {
    guard kernel.count == 1 else { return self }
    var windows = self
    windows.kernel.insert(1, at: 0)
    windows.strides.insert(1, at: 0)
    windows.dilations.insert(1, at: 0)
    windows.pad.insert((before: 0, after: 0), at: 0)
    return windows
  }

  package var isSame: Bool { padType.hasPrefix("same") }

  var same: SamePadding {
    SamePadding().with(\.asymmetryMode, padType == "same" ? .bottomRightHeavy : .topLeftHeavy)
  }

  var valid: ValidPadding {
    ValidPadding().with(
      \.paddingAmounts,
      BorderAmounts(
        top: pad[0].before, bottom: pad[0].after, left: pad[1].before, right: pad[1].after))
  }

  /// The padding with which the windows cover all of an input of this size, as with `ceil_mode`: no
  /// window starts after the input.
  func padToCeiling(_ size: [Int]) -> [(before: Int, after: Int)] {
    pad.indices.map { axis in
      let (before, after) = pad[axis]
      let rest = size[axis] + before + after - kernel[axis]
      // No window starts within the input, and the layer refuses it.
      if rest <= -strides[axis] { return pad[axis] }
      var steps = (rest + strides[axis] - 1) / strides[axis]
      if before + after > 0, steps * strides[axis] >= size[axis] + before { steps -= 1 }
      let covered = steps * strides[axis] + kernel[axis]
      return (before: before, after: max(0, covered - size[axis] - before))
    }
  }

  /// The windows along three axes.
  func volume() throws -> VolumeWindow {
    try require(
      padType != "same_lower", .unsupported, "same_lower along three axes is not supported")
    var window = Convolution3D().window
    window.kernel = kernel
    window.stride = strides
    window.dilation = dilations
    window.paddingType = isSame ? .same : .custom
    window.padding = pad.flatMap { [$0.before, $0.after] }
    return window
  }
}

extension OperationCall {
  /// - Parameter weight: the weights, if they are not an argument.
  func convolution(isTransposed: Bool, weight: MILElements? = nil) throws -> [ProgramValue] {
    let x = try input(ranks: 3...5)
    guard var weight = try weight ?? elements("weight") else { return [] }
    try require(
      weight.shape.count == x.rank && weight.count > 0, "the shape is \(weight.shape)",
      field: "weight")
    var windows = try Windows(self, kernel: Array(weight.shape[2...]))
    let groups = try int("groups") ?? 1
    try require(groups > 0 && groups <= x.shape[1], "\(groups) groups", field: "groups")
    let channels =
      isTransposed
      ? try checkedProduct([weight.shape[1], groups], limit: Limits.dimension) : weight.shape[0]
    let bias = try weights("bias", shape: [channels])
    if isTransposed {
      // The layer does not support dilations when transposed; zeros between the weights are
      // equivalent.
      weight = try spaced(weight, windows.dilations)
      windows.kernel = Array(weight.shape[2...])
      windows.dilations = windows.kernel.map { _ in 1 }
      try fit(&windows, x, channels)
    }
    if x.rank == 5 {
      var layer = Convolution3D()
      layer.outputChannels = channels
      layer.inputChannels = x.shape[1]
      layer.nGroups = groups
      layer.window = try windows.volume()
      layer.kernel = try weight.weights()
      layer.hasBias = bias != nil
      layer.bias = bias
      layer.isDeconvolution = isTransposed
      return [try add(layer, x)]
    }
    let planes = windows.planes
    var layer = Convolution()
    layer.outputChannels = channels
    layer.kernelChannels = weight.shape[isTransposed ? 0 : 1]
    layer.nGroups = groups
    layer.kernelSize = planes.kernel
    layer.stride = planes.strides
    layer.dilationFactor = planes.dilations
    layer.padding = planes.isSame ? .same(planes.same) : .valid(planes.valid)
    layer.isDeconvolution = isTransposed
    layer.kernel = try weight.weights(scalesRows: !isTransposed)
    layer.hasBias = bias != nil
    layer.bias = bias
    return [try asPlanes(x) { try add(layer, $0) }]
  }

  /// Inserts zeros between the weights along the last axes.
  private func spaced(_ weight: MILElements, _ steps: [Int]) throws -> MILElements {
    if steps.allSatisfy({ $0 == 1 }) { return weight }
    let small = Array(weight.shape[2...])
    let large = zip(small, steps).map { ($0 - 1) * $1 + 1 }
    let total = try checkedProduct(weight.shape[..<2] + large, limit: Limits.tensorElements)
    let (each, room) = (small.reduce(1, *), large.reduce(1, *))
    // The zeros may take at most 100 times the memory of the weights.
    try require(
      total / 100 <= weight.count, .limitExceeded, "dilations of \(steps) are not supported",
      field: "dilations")
    var result = [Float](repeating: 0, count: total)
    for (index, value) in try weight.floats().enumerated() {
      var (rest, position, size) = (index % each, 0, 1)
      for axis in small.indices.reversed() {
        position += rest % small[axis] * steps[axis] * size
        rest /= small[axis]
        size *= large[axis]
      }
      result[index / each * room + position] = value
    }
    return MILElements(result, Array(weight.shape[..<2]) + large, weight.type)
  }

  /// Crops the end of each axis to the declared output shape.
  private func fit(_ windows: inout Windows, _ x: ProgramValue, _ channels: Int) throws {
    guard let shape = try ints("output_shape") else { return }
    try require(
      shape.count == x.rank && !windows.isSame
        && shape.allSatisfy { $0 > 0 && $0 <= Limits.dimension }, .unsupported,
      "\(shape) with padding '\(windows.padType)'", field: "output_shape")
    for axis in windows.kernel.indices {
      let full = try checkedSum([
        checkedProduct([x.shape[axis + 2] - 1, windows.strides[axis]]), windows.kernel[axis],
      ])
      let after = full - windows.pad[axis].before - shape[axis + 2]
      try require(
        after >= 0, .unsupported, "\(shape) extends beyond the last window, which is not supported",
        field: "output_shape")
      windows.pad[axis].after = after
    }
  }
}

let poolingRules: [OperationRule] = [
  pooling("max_pool", "the maximum of each window", .max),
  pooling("avg_pool", "the mean of each window", .average),
  pooling("l2_pool", "the square root of the sum of squares of each window", .l2),
]

private func pooling(_ name: String, _ summary: String, _ type: Pooling.PoolingType)
  -> OperationRule
{
  let exclude = type == .average ? " exclude_padding_from_average?" : ""
  return OperationRule(
    name, "x kernel_sizes strides? pad_type? pad? ceil_mode?" + exclude, summary
  ) { call in
    let x = try call.input(ranks: 3...5)
    let kernel = try call.ints("kernel_sizes") ?? []
    try require(
      kernel.count == x.rank - 2 && kernel.allSatisfy { $0 > 0 && $0 <= Limits.dimension },
      "\(kernel) for an input of rank \(x.rank)", field: "kernel_sizes")
    let windows = try Windows(call, kernel: kernel)
    let excludes = try type == .average && call.bool("exclude_padding_from_average")
    let isCeiling = try call.bool("ceil_mode")
    if x.rank == 5 {
      try require(
        type != .l2 && !isCeiling, .unsupported, "this pooling along three axes is not supported")
      let layer = try Pooling3D().with(\.type, type == .max ? .max : .average)
        .with(\.window, windows.volume()).with(\.countExcludePadding, excludes)
      return [try call.add(layer, x)]
    }
    var planes = windows.planes
    var layer = Pooling()
    layer.type = type
    layer.kernelSize = planes.kernel
    layer.stride = planes.strides
    layer.avgPoolExcludePadding = excludes
    let isSmall = kernel.indices.contains {
      kernel[$0] > x.shape[$0 + 2] + windows.pad[$0].before + windows.pad[$0].after
    }
    if isCeiling, !isSmall, !planes.isSame, planes.pad.allSatisfy({ $0.before == $0.after }) {
      layer.padding = .includeLastPixel(
        ValidCompletePadding().with(\.paddingAmounts, planes.pad.map(\.before)))
      return [try call.asPlanes(x) { try call.add(layer, $0) }]
    }
    return [
      try call.asPlanes(x) { x in
        var (layer, x) = (layer, x)
        if isCeiling, !planes.isSame {
          let given = planes.pad
          planes.pad = planes.padToCeiling(Array(x.shape[2...]))
          if type == .average, !excludes {
            // The given padding counts in the divisor, that of the last windows does not.
            let counted = zip(given, planes.pad).map { ($0.before, min($0.after, $1.after)) }
            let amounts = BorderAmounts(
              top: counted[0].0, bottom: counted[0].1, left: counted[1].0, right: counted[1].1)
            x = try call.add(
              Padding().with(\.kind, .constant(value: 0)).with(\.paddingAmounts, amounts), x)
            planes.pad = zip(planes.pad, counted).map { (before: 0, after: $0.after - $1.1) }
            layer.avgPoolExcludePadding = true
          }
        }
        layer.padding = planes.isSame ? .same(planes.same) : .valid(planes.valid)
        return try call.add(layer, x)
      }
    ]
  }
}
