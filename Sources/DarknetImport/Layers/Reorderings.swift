import CoreMLModel
import ImportSupport
import TensorCore

extension DarknetLayer {
  /// Darknet's reordering of rows, columns and channels.
  ///
  /// It reinterprets `[C, H, W]` in memory order as an image `[C/s², H·s, W·s]`, moves blocks of s ×
  /// s pixels into channels, and reinterprets the result as `[C·s², H/s, W/s]`. This is not a
  /// space-to-depth of the input. With `reverse`, it is a depth-to-space of the input.
  static let reorg = DarknetLayer(
    SourceLayer(
      "reorg", "reorg_old",
      becomes:
        "reshape, reorganizeData, reshape; `reverse`: reorganizeData; `extra`: flatten and zeros",
      refused:
        "channels not divisible by the square of `stride`, and `flatten` with `extra`: undefined "
        + "in Darknet"), options: ["stride", "reverse", "flatten", "extra"]
  ) { section in
    let stride = try section.int("stride", default: 1, in: 1...(1 << 14))
    let isReverse = try section.bool("reverse")
    let isFlattened = try section.bool("flatten")
    let extra = try section.int("extra", default: 0, in: 0...Limits.dimension)
    if extra > 0, isFlattened {
      try section.refuse("extra", "with flatten, Darknet reads numbers after its input")
    }
    return { call, network in
      let input = try call.image
      if extra > 0 { return try network.lengthened(input, by: extra, call) }
      let (c, h, w) = (input.channels, input.height, input.width)
      let area = stride * stride
      guard isReverse || (h % stride == 0 && w % stride == 0) else {
        throw call.error("\(h) × \(w) is not a multiple of the stride \(stride)")
      }
      guard c % area == 0 || (isFlattened && !isReverse) else {
        throw call.error("\(c) channels are not a multiple of \(area), the square of the stride")
      }
      let output =
        isReverse
        ? try DarknetTensor("", c / area, h * stride, w * stride)
        : try DarknetTensor("", c * area, h / stride, w / stride)
      if isFlattened {
        // Transposes the order channels, rows, columns to rows, columns, channels, or back.
        let (rows, columns) = isReverse ? (h * w, c) : (c, h * w)
        let matrix = network.reshaped(input.blob, 1, rows, columns, call.name + "__matrix__")
        let transposed = network.permuted(matrix, [0, 1, 3, 2], call.name + "__turned__")
        return output.with(
          network.reshaped(transposed, output.channels, output.height, output.width, call.name))
      }
      if stride == 1 { return input }
      if isReverse {
        return output.with(network.reorganized(input.blob, .depthToSpace, stride, call.name))
      }
      let taken = network.reshaped(
        input.blob, c / area, h * stride, w * stride, call.name + "__memory__")
      let moved = network.reorganized(taken, .spaceToDepth, stride, call.name + "__blocks__")
      return output.with(
        network.reshaped(moved, output.channels, output.height, output.width, call.name))
    }
  }

  /// Moves blocks of stride × stride into channels: row dy and column dx of a block move to channel
  /// (dy · stride + dx) · C + c.
  ///
  /// With `reverse`, the values are reinterpreted as `[C/s², H·s, W·s]`, and channels are moved into
  /// blocks.
  static let reorg3D = DarknetLayer(
    SourceLayer(
      "reorg3d", becomes: "reorganizeData; `reverse`: wrapped in reshapes"),
    options: ["stride", "reverse"]
  ) { section in
    let stride = try section.int("stride", default: 1, in: 1...(1 << 14))
    let isReverse = try section.bool("reverse")
    return { call, network in
      let input = try call.image
      let (c, h, w) = (input.channels, input.height, input.width)
      if stride == 1 { return input }
      let area = stride * stride
      guard isReverse else {
        try call.require(
          h % stride == 0 && w % stride == 0,
          "\(h) × \(w) is not a multiple of the stride \(stride)")
        let blob = network.reorganized(input.blob, .spaceToDepth, stride, call.name)
        return try DarknetTensor(blob, c * area, h / stride, w / stride)
      }
      try call.require(
        c % (area * area) == 0,
        "\(c) channels are not a multiple of \(area * area), the fourth power of the stride")
      var output = try DarknetTensor("", c / area, h * stride, w * stride)
      let taken = network.reshaped(
        input.blob, output.channels, output.height, output.width, call.name + "__memory__")
      let moved = network.reorganized(taken, .depthToSpace, stride, call.name + "__blocks__")
      output.blob = network.reshaped(moved, output.channels, output.height, output.width, call.name)
      return output
    }
  }

  /// The center of the image, scaled to 2x − 1 unless `noadjust` is set.
  static let crop = DarknetLayer(
    SourceLayer("crop", becomes: "center crop, 2x − 1"),
    options: ["crop_height", "crop_width", "noadjust"],
    trainingOptions: ["angle", "exposure", "flip", "saturation", "shift"]
  ) { section in
    let height = try section.int("crop_height", default: 1, in: 1...Limits.dimension)
    let width = try section.int("crop_width", default: 1, in: 1...Limits.dimension)
    let isAdjusted = try !section.bool("noadjust")
    return { call, network in
      let input = try call.image
      guard height <= input.height, width <= input.width else {
        throw call.error("\(height) × \(width) cannot be cut from \(input.height) × \(input.width)")
      }
      let (top, left) = ((input.height - height) / 2, (input.width - width) / 2)
      var output = try DarknetTensor(input.blob, input.channels, height, width)
      if output.shape != input.shape {
        var crop = Crop()
        crop.cropAmounts = BorderAmounts(
          top: top, bottom: input.height - height - top, left: left,
          right: input.width - width - left)
        output.blob = network.add(call.name, crop, [input.blob])
      }
      if isAdjusted { output.blob = network.affine(output.blob, 2, -1, call.name + "__adjust__") }
      return output
    }
  }
}

extension DarknetWriter {
  /// `extra`: the input as a vector, followed by zeros.
  fileprivate mutating func lengthened(
    _ input: DarknetTensor, by extra: Int, _ call: LayerCall
  ) throws -> DarknetTensor {
    try addConstants([extra], call)
    var zeros = LoadConstant()
    zeros.shape = [extra, 1, 1]
    zeros.data = Weights([Float](repeating: 0, count: extra))
    let parts = [flattened(input, for: call.name), add(call.name + "__extra__", zeros, [])]
    return try .vector(
      joined(parts, alongSequence: false, call.name),
      checkedSum([input.count, extra], limit: Limits.dimension))
  }
}
