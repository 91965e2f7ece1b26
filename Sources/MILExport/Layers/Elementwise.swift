import CoreMLModel
import TensorCore

extension LayerCall {
  /// All inputs, in broadcastable shapes.
  fileprivate func operands() throws -> [Variable] {
    let numbers = try inputs.indices.map { try number($0) }
    if numbers.allSatisfy({ $0.shape == numbers[0].shape }) { return numbers }
    let rank = inputShapes[0].count
    if rank > 5 || inputShapes.contains(where: { $0.count != rank }) {
      return try inputs.indices.map { try array($0) }
    }
    let shapes = try inputs.indices.map { try five($0) }
    let isFour = shapes.allSatisfy { $0[0] * $0[1] == 1 || $0[..<2] == shapes[0][..<2] }
    return try zip(numbers, shapes).map { try reshape($0, to: isFour ? Self.merged($1) : $1) }
  }

  /// Applies a binary operation successively to all inputs.
  fileprivate func fold(_ operation: String) throws -> Variable {
    let operands = try operands()
    return try operands.dropFirst().reduce(operands[0]) { try combine(operation, $0, $1) }
  }
}

extension Add: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.inputs.count == 1 ? layer.combine("add", layer.number(), alpha) : layer.fold("add")
  }
}

extension Multiply: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.inputs.count == 1 ? layer.combine("mul", layer.number(), alpha) : layer.fold("mul")
  }
}

extension Average: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let sum = try layer.fold("add")
    if layer.inputs.count == 1 { return sum }
    return try layer.combine("mul", sum, 1 / Float(layer.inputs.count))
  }
}

extension Max: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable { try layer.fold("maximum") }
}

extension Min: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable { try layer.fold("minimum") }
}

extension DotProduct: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes(0)
    let y = try layer.planes(1)
    func product(_ x: Variable, _ y: Variable) throws -> Variable {
      try layer.reduce("reduce_sum", layer.combine("mul", x, y), [1])
    }
    let sum = try product(x, y)
    if !cosineSimilarity { return sum }
    let lengths = try [x, y].map {
      try layer.add("sqrt", layer.combine("maximum", product($0, $0), 1e-12))
    }
    return try layer.combine("real_div", sum, layer.combine("mul", lengths[0], lengths[1]))
  }
}

extension Reduce: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    var x = try layer.planes()
    var axes =
      switch axis {
      case .chw: [1, 2, 3]
      case .hw: [2, 3]
      case .c: [1]
      case .h: [2]
      case .w: [3]
      }
    switch mode {
    case .sum: return try layer.reduce("reduce_sum", x, axes)
    case .avg: return try layer.reduce("reduce_mean", x, axes)
    case .prod: return try layer.reduce("reduce_prod", x, axes)
    case .logsum:
      x = try layer.add("log", x, [("epsilon", .number(effectiveEpsilon))])
      return try layer.reduce("reduce_sum", x, axes)
    case .sumsquare: return try layer.reduce("reduce_sum_square", x, axes)
    case .l1: return try layer.reduce("reduce_l1_norm", x, axes)
    case .l2: return try layer.reduce("reduce_l2_norm", x, axes)
    case .max: return try layer.reduce("reduce_max", x, axes)
    case .min: return try layer.reduce("reduce_min", x, axes)
    case .argmax:
      if axes.count > 1 {
        let kept = Array(x.shape[..<axes[0]])
        x = try layer.reshape(x, to: kept + [x.shape[axes[0]...].reduce(1, *)])
        axes = [x.rank - 1]
      }
      return try layer.extremum("reduce_argmax", x, axes[0], keepDims: true)
    }
  }
}

extension Concat: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let values: [Variable]
    if sequenceConcat {
      values = try layer.inputs.indices.map { try layer.planes($0) }
    } else {
      let narrow = try layer.inputs.indices.map { try layer.channels($0) }
      values =
        narrow.allSatisfy({ $0.rank == narrow[0].rank })
        ? narrow : try layer.inputs.indices.map { try layer.planes($0) }
    }
    return try layer.concat(values, sequenceConcat ? 0 : 1)
  }
}

extension LayerCall {
  func concat(_ values: [Variable], _ axis: Int, interleave: Bool = false) throws -> Variable {
    if values.count == 1 { return values[0] }
    var shape = values[0].shape
    shape[axis] = values.reduce(0) { $0 + $1.shape[axis] }
    return try builder.add(
      "concat", name,
      [("values", .variables(values)), ("axis", .int(axis)), ("interleave", .flag(interleave))],
      type: type, result: values[0].type, shape: shape)
  }

  /// Splits an axis into parts of these sizes.
  func split(_ x: Variable, _ axis: Int, _ sizes: [Int]) throws -> [Variable] {
    if sizes.count == 1 { return [x] }
    let isEven = sizes.allSatisfy { $0 == sizes[0] }
    return try builder.add(
      "split", name,
      [
        ("x", .variable(x)),
        isEven ? ("num_splits", .int(sizes.count)) : ("split_sizes", .ints(sizes)),
        ("axis", .int(axis)),
      ], type: type,
      outputs: sizes.map { size in
        var shape = x.shape
        shape[axis] = size
        return (x.type, shape)
      })
  }

  /// The indices of the largest or smallest elements, as integers.
  func extremum(
    _ operation: String, _ x: Variable, _ axis: Int, keepDims: Bool
  ) throws -> Variable {
    var shape = x.shape
    if keepDims { shape[axis] = 1 } else { shape.remove(at: axis) }
    return try add(
      operation, x, [("axis", .int(axis)), ("keep_dims", .flag(keepDims))], shape: shape,
      type: .int32)
  }
}

extension Split: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let x = try layer.channels()
    let size = x.shape[1] / max(1, nOutputs)
    return try layer.split(x, 1, [Int](repeating: size, count: nOutputs))
  }
}

extension SequenceRepeat: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    return try layer.add(
      "tile", x, [("reps", .ints([effectiveRepetitions, 1, 1, 1]))],
      shape: [x.shape[0] * effectiveRepetitions] + x.shape[1...])
  }
}

extension ReorganizeData: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let output = try LayerCall.merged(layer.fiveOutput())
    let (operation, argument) =
      switch mode {
      case .spaceToDepth: ("space_to_depth", "block_size")
      case .depthToSpace: ("depth_to_space", "block_size")
      case .pixelShuffle: ("pixel_shuffle", "upscale_factor")
      }
    return try layer.add(operation, x, [(argument, .int(blockSize))], shape: output)
  }
}

extension Slice: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let output = try LayerCall.merged(layer.fiveOutput())
    let index = axis.rawValue + 1
    let start = startIndex < 0 ? startIndex + x.shape[index] : startIndex
    var (begin, end, stride) = ([0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1])
    var mask = [true, true, true, true]
    begin[index] = start
    end[index] = start + (output[index] - 1) * effectiveStride + 1
    stride[index] = effectiveStride
    mask[index] = false
    return try layer.add(
      "slice_by_index", x,
      [
        ("begin", .ints(begin)), ("end", .ints(end)), ("stride", .ints(stride)),
        ("begin_mask", .flags(mask)), ("end_mask", .flags(mask)),
      ], shape: output)
  }
}
