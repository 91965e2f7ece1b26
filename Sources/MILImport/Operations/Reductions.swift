import CoreMLModel
import TensorCore

/// Reductions over axes.
let reductionRules: [OperationRule] = [
  reduction("reduce_sum", "the sum", ReduceSum()),
  reduction("reduce_mean", "the mean", ReduceMean()),
  reduction("reduce_max", "the maximum", ReduceMax()),
  reduction("reduce_min", "the minimum", ReduceMin()),
  reduction("reduce_prod", "the product", ReduceProd()),
  reduction("reduce_l1_norm", "the sum of |x|", ReduceL1()),
  reduction("reduce_l2_norm", "the square root of the sum of x²", ReduceL2()),
  reduction("reduce_sum_square", "the sum of x²", ReduceSumSquare()),
  reduction("reduce_log_sum", "the logarithm of the sum", ReduceLogSum()),
  reduction("reduce_log_sum_exp", "the logarithm of the sum of eˣ", ReduceLogSumExp()),
  extremum("reduce_argmax", "the index of the maximum", ArgMax()),
  extremum("reduce_argmin", "the index of the minimum", ArgMin()),
]

private func reduction(_ name: String, _ summary: String, _ layer: some AxesReductionLayer)
  -> OperationRule
{
  OperationRule(name, "x axes? keep_dims?", "\(summary) over the axes") { call in
    let x = try call.value("x")
    var layer = layer
    layer.axes = try call.ints("axes") ?? []
    layer.reduceAll = layer.axes.isEmpty
    layer.keepDims = try call.bool("keep_dims")
    return [try call.add(layer, x)]
  }
}

private func extremum(_ name: String, _ summary: String, _ layer: some ExtremumLayer)
  -> OperationRule
{
  OperationRule(name, "x axis? keep_dims? output_dtype?", "\(summary) along an axis") { call in
    let x = try call.value("x")
    var layer = layer
    layer.axis = try call.axis("axis", rank: x.rank, -1)
    layer.removeDim = try !call.bool("keep_dims")
    return [try call.add(layer, x, type: call.dataType("output_dtype", .int32))]
  }
}
