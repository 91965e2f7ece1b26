import CoreMLModel
import TensorCore

let reductionRules: [String: ONNXRule] = [
  "reduce_sum": reduction("ReduceSum"), "reduce_mean": reduction("ReduceMean"),
  "reduce_max": reduction("ReduceMax"), "reduce_min": reduction("ReduceMin"),
  "reduce_prod": reduction("ReduceProd"), "reduce_l1_norm": reduction("ReduceL1"),
  "reduce_l2_norm": reduction("ReduceL2"), "reduce_sum_square": reduction("ReduceSumSquare"),
  "reduce_log_sum": reduction("ReduceLogSum"),
  "reduce_log_sum_exp": reduction("ReduceLogSumExp"),
  "reduce_argmax": extremum("ArgMax"), "reduce_argmin": extremum("ArgMin"),
  "cumsum": one { call in
    let x = try call.value("x")
    // The operator does not take half precision.
    let wide = x.type == .float16 ? MILDataType.float32 : x.type
    let sum = try call.add(
      "CumSum", [call.cast(x, to: wide), call.integers([call.axis("axis", of: x, 0)], [])],
      [("exclusive", .int(call.int("exclusive", 0))), ("reverse", .int(call.int("reverse", 0)))])
    return try call.cast(sum, to: x.type)
  },
]

private func reduction(_ type: String) -> ONNXRule {
  { call in
    [try call.reduce(type, call.value("x"), call.ints("axes"), keeps: call.bool("keep_dims"))]
  }
}

private func extremum(_ type: String) -> ONNXRule {
  { call in
    let x = try call.value("x")
    let index = try call.add(
      type, [x],
      [
        ("axis", .int(call.axis("axis", of: x, -1))),
        ("keepdims", .int(call.bool("keep_dims") ? 1 : 0)),
      ], type: .int64)
    return [try call.cast(index, to: call.declared().type)]
  }
}

extension ExportedOperation {
  /// - Parameter axes: nil for all.
  func reduce(
    _ type: String, _ x: GraphValue, _ axes: [Int]?, keeps: Bool = true
  ) throws -> GraphValue {
    let axes = axes?.isEmpty == true ? nil : try axes.map { try ArrayShape.axes($0, rank: x.rank) }
    let keep: (String, AttributeValue) = ("keepdims", .int(keeps ? 1 : 0))
    let shape = x.shape.indices.map { axes?.contains($0) ?? true ? 1 : x.shape[$0] }
    // ReduceSum was the first operator to take its axes as an input.
    if type == "ReduceSum" || graph.opset >= 18 {
      return try add(type, [x] + (axes.map { [try list($0)] } ?? []), [keep], shape: shape)
    }
    return try add(type, [x], (axes.map { [("axes", .ints($0))] } ?? []) + [keep], shape: shape)
  }
}
