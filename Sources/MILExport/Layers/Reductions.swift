import CoreMLModel
import TensorCore

/// A reduction of an array.
protocol ReductionOperationLayer: OneResultLayer, AxesReductionLayer {
  var operation: String { get }
}

extension ReductionOperationLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let all = reduceAll || axes.isEmpty
    let positions =
      all ? Array(0..<x.rank) : try axes.map { try ArrayShape.axis($0, rank: x.rank, "axes") }
    let result = try layer.reduce(operation, x, positions, keepDims: all ? false : keepDims)
    return try layer.reshape(result, to: layer.outputShapes[0])
  }
}

extension ReduceL1: ReductionOperationLayer { var operation: String { "reduce_l1_norm" } }
extension ReduceL2: ReductionOperationLayer { var operation: String { "reduce_l2_norm" } }
extension ReduceMax: ReductionOperationLayer { var operation: String { "reduce_max" } }
extension ReduceMin: ReductionOperationLayer { var operation: String { "reduce_min" } }
extension ReduceSum: ReductionOperationLayer { var operation: String { "reduce_sum" } }
extension ReduceProd: ReductionOperationLayer { var operation: String { "reduce_prod" } }
extension ReduceMean: ReductionOperationLayer { var operation: String { "reduce_mean" } }
extension ReduceLogSum: ReductionOperationLayer { var operation: String { "reduce_log_sum" } }
extension ReduceSumSquare: ReductionOperationLayer { var operation: String { "reduce_sum_square" } }
extension ReduceLogSumExp: ReductionOperationLayer {
  var operation: String { "reduce_log_sum_exp" }
}

/// The index of an extremum.
protocol ExtremumOperationLayer: OneResultLayer, ExtremumLayer { var operation: String { get } }

extension ExtremumOperationLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let position = try ArrayShape.axis(axis, rank: x.rank, "axis")
    let result = try layer.extremum(operation, x, position, keepDims: !removeDim)
    return try layer.reshape(result, to: layer.outputShapes[0])
  }
}

extension ArgMax: ExtremumOperationLayer { var operation: String { "reduce_argmax" } }
extension ArgMin: ExtremumOperationLayer { var operation: String { "reduce_argmin" } }

extension TopK: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let x = try layer.array()
    let position = try ArrayShape.axis(axis, rank: x.rank, "axis")
    let shape = layer.outputShapes[0]
    return try layer.builder.add(
      "topk", layer.name,
      [
        ("x", .variable(x)), ("k", .int(shape[position])), ("axis", .int(position)),
        ("ascending", .flag(useBottomK)),
      ], type: layer.type, outputs: [(x.type, shape), (.int32, shape)])
  }
}

extension ArgSort: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let position = try ArrayShape.axis(axis, rank: x.rank, "axis")
    return try layer.add(
      "argsort", x, [("axis", .int(position)), ("ascending", .flag(!descending))], type: .int32)
  }
}

extension CumSum: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let position = try ArrayShape.axis(axis, rank: x.rank, "axis")
    return try layer.add(
      "cumsum", x,
      [
        ("axis", .int(position)), ("exclusive", .flag(excludeFinalSum)),
        ("reverse", .flag(reverse)),
      ])
  }
}

extension Gather: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.anyArray(0)
    let position = try ArrayShape.axis(axis, rank: x.rank, "axis")
    let indices = try layer.integers(1)
    var shape = x.shape
    shape.replaceSubrange(position...position, with: indices.shape)
    let result = try layer.add(
      "gather", x, [("indices", .variable(indices)), ("axis", .int(position))], shape: shape)
    return try layer.reshape(result, to: layer.outputShapes[0])
  }
}

extension GatherAlongAxis: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.anyArray(0)
    let position = try ArrayShape.axis(axis, rank: x.rank, "axis")
    return try layer.add(
      "gather_along_axis", x,
      [("indices", .variable(try layer.integers(1))), ("axis", .int(position))],
      shape: layer.outputShapes[0])
  }
}

extension GatherND: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add(
      "gather_nd", layer.anyArray(0), [("indices", .variable(try layer.integers(1)))],
      shape: layer.outputShapes[0])
  }
}

extension OneHot: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let indices = try layer.integers(0)
    let shape = layer.outputShapes[0]
    let position = try ArrayShape.axis(axis, rank: shape.count, "axis")
    return try layer.make(
      "one_hot",
      [
        ("indices", .variable(indices)), ("one_hot_vector_size", .int(shape[position])),
        ("axis", .int(position)), ("on_value", .number(onValue)), ("off_value", .number(offValue)),
      ], shape: shape)
  }
}

extension FillStatic: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.make(
      "fill", [("shape", .ints(layer.outputShapes[0])), ("value", .number(value))],
      shape: layer.outputShapes[0])
  }
}

extension FillLike: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.make(
      "fill_like", [("ref_tensor", .variable(try layer.array())), ("value", .number(value))],
      shape: layer.outputShapes[0])
  }
}

extension RangeStatic: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.make(
      "range_1d",
      [
        ("start", .number(startValue)), ("end", .number(endValue)),
        ("step", .number(stepSizeValue)),
      ], shape: layer.outputShapes[0])
  }
}

extension GetShape: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add("shape", layer.anyArray(), shape: [layer.inputShapes[0].count], type: .int32)
  }
}
