import CoreMLModel
import TensorCore

extension Reshape: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let (from, to) = (try layer.five(), try layer.fiveOutput())
    return try layer.reordered(
      from, to, fromLast: mode == .channelLast, toLast: mode == .channelLast)
  }
}

extension Flatten: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let (from, to) = (try layer.five(), try layer.fiveOutput())
    return try layer.reordered(from, to, fromLast: mode == .channelLast, toLast: false)
  }
}

extension LayerCall {
  /// Reorders each batch item's elements; both orders are [Seq, C, H, W] or [Seq, H, W, C].
  fileprivate func reordered(
    _ from: [Int], _ to: [Int], fromLast: Bool, toLast: Bool
  ) throws -> Variable {
    let isVector = to[3] == 1 && to[4] == 1
    if !fromLast && !toLast, from[0] == to[0] || from[1] == 1 {
      return try reshape(number(), to: isVector ? [to[0] * to[1], to[2]] : Self.merged(to))
    }
    // With several items, the batch comes first.
    let isSwapped = from[0] > 1 && from[1] > 1 || to[0] > 1 && to[1] > 1
    let first = isSwapped ? [1, 0] : [0, 1]
    var x = try reshape(number(), to: from)
    x = try transpose(x, first + (fromLast ? [3, 4, 2] : [2, 3, 4]))
    let sizes = isSwapped ? [to[1], to[0]] : [to[0], to[1]]
    x = try reshape(x, to: sizes + (toLast ? [to[3], to[4], to[2]] : Array(to[2...])))
    return try transpose(x, first + (toLast ? [4, 2, 3] : [2, 3, 4]))
  }
}

extension Permute: OneResultLayer {
  /// Permutes [Seq, C, H, W].
  func operation(_ layer: LayerCall) throws -> Variable {
    let five = try layer.five()
    let axes = axis.isEmpty ? [0, 1, 2, 3] : axis
    if axes[0] == 0 || five[1] == 1 { return try layer.transpose(layer.planes(), axes) }
    let x = try layer.reshape(layer.number(), to: five)
    func index(_ axis: Int) -> Int { axis == 0 ? 0 : axis + 1 }
    return try layer.transpose(
      x, [index(axes[0]), 1, index(axes[1]), index(axes[2]), index(axes[3])])
  }
}

extension LoadConstant: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let five = try layer.fiveOutput()
    return try layer.weight(data, Array(five[2...]), "data", newShape: LayerCall.merged(five))
  }
}

extension LoadConstantND: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable { try layer.weight(data, shape, "data") }
}

extension Copy: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable { try layer.input(0) }
}

extension Transpose: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.anyArray()
    return try layer.transpose(x, permutation(of: x.shape))
  }
}

/// A layer that reshapes its input.
protocol ReshapingLayer: OneResultLayer {}

extension ReshapingLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.reshape(layer.anyArray(), to: layer.outputShapes[0])
  }
}

extension Squeeze: ReshapingLayer {}
extension ExpandDims: ReshapingLayer {}
extension FlattenTo2D: ReshapingLayer {}
extension ReshapeLike: ReshapingLayer {}
extension ReshapeStatic: ReshapingLayer {}
extension ReshapeDynamic: ReshapingLayer {}
extension RankPreservingReshape: ReshapingLayer {}

/// A layer that repeats its input.
protocol BroadcastingToLayer: OneResultLayer {}

extension BroadcastingToLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.broadcast(layer.array(), to: layer.outputShapes[0])
  }
}

extension BroadcastToLike: BroadcastingToLayer {}
extension BroadcastToStatic: BroadcastingToLayer {}
extension BroadcastToDynamic: BroadcastingToLayer {}

extension ConcatND: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let values = try layer.inputs.indices.map { try layer.array($0) }
    let axis = try ArrayShape.axis(axis, rank: values[0].rank, "axis")
    return try layer.concat(values, axis, interleave: interleave)
  }
}

extension Stack: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let values = try layer.inputs.indices.map { try layer.array($0) }
    let shape = layer.outputShapes[0]
    // Scalars already have an axis here.
    if shape.count == values[0].rank { return try layer.concat(values, 0) }
    let axis = try ArrayShape.axis(axis, rank: shape.count, "axis")
    return try layer.make(
      "stack", [("values", .variables(values)), ("axis", .int(axis))], shape: shape)
  }
}

extension SplitND: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let x = try layer.anyArray()
    let axis = try ArrayShape.axis(axis, rank: x.rank, "axis")
    return try layer.split(x, axis, layer.outputShapes.map { $0[axis] })
  }
}

extension Tile: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let (x, shape) = (try layer.array(), layer.outputShapes[0])
    let full = try layer.reshape(
      x, to: [Int](repeating: 1, count: max(0, shape.count - x.rank)) + x.shape)
    let repetitions = zip(shape, full.shape).map { $0 / max(1, $1) }
    return try layer.add("tile", full, [("reps", .ints(repetitions))], shape: shape)
  }
}

extension Reverse: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let axes = reverseDim.indices.filter { reverseDim[$0] }
    if axes.isEmpty { return x }
    return try layer.add("reverse", x, [("axes", .ints(axes))])
  }
}

extension SliceStatic: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.anyArray()
    func mask(_ flags: [Bool]) -> Argument {
      .flags(flags + [Bool](repeating: false, count: max(0, x.rank - flags.count)))
    }
    let shape = layer.outputShapes[0]
    let isScalar = squeezeMasks.count == x.rank && squeezeMasks.allSatisfy { $0 }
    let slice = try layer.add(
      "slice_by_index", x,
      [
        ("begin", .ints(beginIds)), ("end", .ints(endIds)), ("stride", .ints(strides)),
        ("begin_mask", mask(beginMasks)), ("end_mask", mask(endMasks)),
        ("squeeze_mask", mask(squeezeMasks)),
      ], shape: isScalar ? [] : shape)
    return try layer.reshape(slice, to: shape)
  }
}

extension ConstantPad: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let (x, shape) = (try layer.array(), layer.outputShapes[0])
    try require(
      padAmounts.count == 2 * x.rank, .unsupported,
      "\(padAmounts.count) amounts for \(x.rank) axes")
    var amounts = padAmounts
    if padToGivenOutputSizeMode {
      for axis in 0..<x.rank {
        let (before, size) = (amounts[axis * 2], amounts[axis * 2 + 1])
        if before > 0, size > 0 { throw layer.unsupported("amounts and sizes for one axis") }
        let total = shape[axis] - x.shape[axis]
        (amounts[axis * 2], amounts[axis * 2 + 1]) = before > 0 ? (total, 0) : (0, total)
      }
    }
    return try layer.add(
      "pad", x,
      [("pad", .ints(amounts)), ("mode", .text("constant")), ("constant_val", .number(value))],
      shape: shape)
  }
}

extension SliceBySize: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let (x, shape) = (try layer.anyArray(), layer.outputShapes[0])
    let index = try ArrayShape.axis(axis, rank: x.rank, "axis")
    func zeros(_ count: Int, _ side: String) throws -> [Variable] {
      if count == 0 { return [] }
      let value = MILValue(ints: [Int](repeating: 0, count: count), [count])
      return [try layer.builder.constant(value, name: "\(layer.name)_\(side)")]
    }
    // A slice that would extend past the end is shifted to end there.
    let last = try layer.builder.constant(
      MILValue(ints: [x.shape[index] - size], [1]), name: "\(layer.name)_last")
    let start = try layer.combine("minimum", layer.reshape(layer.integers(1), to: [1]), last)
    let begin = try layer.concat(
      zeros(index, "before") + [start] + zeros(x.rank - index - 1, "after"), 0)
    return [
      try layer.add(
        "slice_by_size", x, [("begin", .variable(begin)), ("size", .ints(shape))], shape: shape)
    ]
  }
}

extension SlidingWindows: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let index = try ArrayShape.axis(axis, rank: x.rank, "axis")
    return try layer.add(
      "sliding_windows", x,
      [("axis", .int(index)), ("size", .int(windowSize)), ("stride", .int(step))],
      shape: layer.outputShapes[0])
  }
}

extension ReverseSeq: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    return try layer.add(
      "reverse_sequence", x,
      [
        ("lengths", .variable(try layer.integers(1))),
        ("seq_axis", .int(try ArrayShape.axis(sequenceAxis, rank: x.rank, "sequenceAxis"))),
        ("batch_axis", .int(try ArrayShape.axis(batchAxis, rank: x.rank, "batchAxis"))),
      ])
  }
}
