import CoreMLModel
import TensorCore

let gatheringRules: [String: ONNXRule] = [
  "gather": { call in
    let (x, indices) = (try call.value("x"), try call.value("indices"))
    let (axis, batch) = (try call.axis("axis", of: x, 0), try call.int("batch_dims", 0))
    if batch == 0 { return [try call.add("Gather", [x, indices], [("axis", .int(axis))])] }
    try require(batch > 0 && batch <= indices.rank, "\(batch)", field: "batch_dims")
    try require(
      axis >= batch, .unsupported, "axis \(axis) is one of the batch's \(batch)", field: "axis")
    // The axis follows the batch, and its indices return to its position.
    let order = Array(0..<batch) + [axis] + (batch..<x.rank).filter { $0 != axis }
    let positions = try call.unsqueeze(call.cast(indices, to: .int64), [indices.rank])
    let found = try call.add(
      "GatherND", [call.transpose(x, order), positions], [("batch_dims", .int(batch))],
      shape: [Int?](repeating: nil, count: x.rank - 1 + indices.rank - batch))
    let own = indices.rank - batch
    let outer = indices.rank..<indices.rank + axis - batch
    let back = Array(0..<batch) + outer + (batch..<batch + own) + (outer.upperBound..<found.rank)
    return [try call.transpose(found, back)]
  },
  "gather_nd": one { call in
    try call.add(
      "GatherND", [call.value("x"), call.cast(call.value("indices"), to: .int64)],
      [("batch_dims", .int(call.int("batch_dims", 0)))])
  },
  "gather_along_axis": one { call in
    let x = try call.value("x")
    return try call.add(
      "GatherElements", [x, call.value("indices")], [("axis", .int(call.axis("axis", of: x, 0)))])
  },
  "scatter": { call in
    let data = try call.value("data")
    let axis = try call.axis("axis", of: data, 0)
    // The axis moves to the front.
    let order = [axis] + (0..<data.rank).filter { $0 != axis }
    let (indices, updates) = (try call.value("indices"), try call.value("updates"))
    let inner = indices.rank
    let moved = try call.transpose(
      updates,
      Array(axis..<axis + inner) + (0..<updates.rank).filter { !(axis..<axis + inner).contains($0) }
    )
    let positions = try call.unsqueeze(call.cast(indices, to: .int64), [inner])
    let result = try call.scattered("ScatterND", call.transpose(data, order), positions, moved)
    return [try call.transpose(result, order.indices.map { order.firstIndex(of: $0) ?? $0 })]
  },
  "scatter_nd": one { call in
    try call.scattered(
      "ScatterND", call.value("data"), call.cast(call.value("indices"), to: .int64),
      call.value("updates"))
  },
  "scatter_along_axis": one { call in
    let data = try call.value("data")
    return try call.scattered(
      "ScatterElements", data, call.value("indices"), call.value("updates"),
      [("axis", .int(call.axis("axis", of: data, 0)))])
  },
  "topk": { call in
    let x = try call.value("x")
    return try call.largest(
      x, call.axis("axis", of: x, -1), call.sizes("k"), ascends: call.bool("ascending"))
  },
  "argsort": one { call in
    let x = try call.value("x")
    let axis = try call.axis("axis", of: x, -1)
    let size = try x.shape[axis].orThrow(
      call.unsupported("the size of the axis is not known", field: "x"))
    return try call.largest(x, axis, call.list([size]), ascends: call.bool("ascending"), result: 0)[
      1]
  },
]

extension ExportedOperation {
  /// The attribute for the mode in which updates are applied; empty if they replace elements.
  fileprivate func reduction() throws -> [(String, AttributeValue)] {
    let mode = try string("mode", "add")
    if mode == "update" { return [] }
    guard ["add", "mul", "max", "min"].contains(mode) else {
      throw unsupported("ONNX's scatter operators have no mode '\(mode)'", field: "mode")
    }
    let isExtremum = mode == "max" || mode == "min"
    try graph.require(opset: isExtremum ? 18 : 16, "scatter operator of mode '\(mode)'")
    return [("reduction", .string(mode))]
  }

  fileprivate func scattered(
    _ type: String, _ data: GraphValue, _ indices: GraphValue, _ updates: GraphValue,
    _ attributes: [(String, AttributeValue)] = []
  ) throws -> GraphValue {
    let reduction = try reduction()
    // ONNX Runtime does not add or multiply in half precision.
    let wide = data.type == .float16 && !reduction.isEmpty ? MILDataType.float32 : data.type
    let result = try add(
      type, [cast(data, to: wide), indices, cast(updates, to: wide)], attributes + reduction)
    return try cast(result, to: data.type)
  }

  /// - Parameter result: the index of the operation's result with the indices.
  fileprivate func largest(
    _ x: GraphValue, _ axis: Int, _ count: GraphValue, ascends: Bool, result: Int = 1
  ) throws -> [GraphValue] {
    let count = count.rank == 0 ? try unsqueeze(count, [0]) : count
    let found = try addAll(
      "TopK", [x, count], [("axis", .int(axis)), ("largest", .int(ascends ? 0 : 1))], outputs: 2)
    guard operation.outputs.indices.contains(result) else { return found }
    var positions = found[1]
    positions.type = .int64
    return [found[0], try cast(positions, to: declared(result).type)]
  }
}
