import CoreMLModel
import TensorCore

let gatherRules: [OperationRule] = [
  OperationRule(
    "gather", "x indices axis? batch_dims? validate_indices?",
    "the parts of x at the indices along an axis"
  ) { call in
    let (x, indices) = (try call.value("x"), try call.value("indices"))
    try call.validateIndices(indices, [x.shape[call.axis("axis", rank: x.rank, 0)]])
    if let count = try call.int("batch_dims"), count != 0 {
      return [try call.gathered(x, indices, batch: count)]
    }
    let axis = try call.axis("axis", rank: x.rank, 0)
    let result = try call.add(Gather().with(\.axis, axis), x, indices)
    if indices.rank > 0 { return [result] }
    var shape = x.shape
    shape.remove(at: axis)
    return [try call.reshaped(result, shape)]
  },
  OperationRule(
    "gather_nd", "x indices batch_dims? validate_indices?",
    "the parts of x at the positions in the last axis of the indices"
  ) { call in
    let (x, indices) = (try call.value("x"), try call.value("indices"))
    let batch = try call.int("batch_dims") ?? 0
    try call.validateIndices(indices, Array(x.shape.dropFirst(max(0, batch))))
    return [try call.gatheredPlaces(x, indices, batch: batch)]
  },
  OperationRule(
    "gather_along_axis", "x indices axis? validate_indices?",
    "for each index, the element of x at that position along the axis"
  ) { call in
    let (x, indices) = (try call.value("x"), try call.value("indices"))
    let axis = try call.axis("axis", rank: x.rank, 0)
    try call.validateIndices(indices, [x.shape[axis]])
    return [try call.add(GatherAlongAxis().with(\.axis, axis), x, indices)]
  },
  OperationRule(
    "scatter", "data indices updates axis? mode? validate_indices?",
    "data with the updates applied at the indices along an axis"
  ) { call in
    let (data, indices) = (try call.value("data"), try call.value("indices"))
    var updates = try call.value("updates")
    let layer = try Scatter().with(\.axis, call.axis("axis", rank: data.rank, 0))
      .with(\.mode, call.scatterMode())
    try call.validateIndices(indices, [data.shape[layer.axis]])
    if indices.rank == 0 {
      var shape = updates.shape
      try require(
        updates.rank == data.rank - 1, "the updates have the rank \(updates.rank)", field: "updates"
      )
      shape.insert(1, at: layer.axis)
      updates = try call.reshaped(updates, shape)
    }
    return [try call.add(layer, data, indices, updates)]
  },
  OperationRule(
    "scatter_nd", "data indices updates mode? validate_indices?",
    "data with the updates applied at the positions in the last axis of the indices"
  ) { call in
    let layer = try ScatterND().with(\.mode, call.scatterMode())
    let (data, indices) = (try call.value("data"), try call.value("indices"))
    try call.validateIndices(indices, data.shape)
    return [try call.add(layer, data, indices, call.value("updates"))]
  },
  OperationRule(
    "scatter_along_axis", "data indices updates axis? mode? validate_indices?",
    "data with each update applied at the position of its index along the axis"
  ) { call in
    let data = try call.value("data")
    let layer = try ScatterAlongAxis().with(\.axis, call.axis("axis", rank: data.rank, 0))
      .with(\.mode, call.scatterMode())
    let indices = try call.value("indices")
    try call.validateIndices(indices, [data.shape[layer.axis]])
    return [try call.add(layer, data, indices, call.value("updates"))]
  },
]

extension OperationCall {
  /// Rejects indices that are negative or too large if the operation requests it; the program then
  /// becomes a network for the values of its inputs. Inside loops, the indices are unknown.
  ///
  /// - Parameter sizes: the size of one axis, or of the axes that the last axis of the indices
  ///   addresses.
  fileprivate func validateIndices(_ indices: ProgramValue, _ sizes: [Int]) throws {
    guard try bool("validate_indices"), let positions = try lowering.elements(indices)?.ints()
    else { return }
    let depth = sizes.count == 1 ? 1 : max(1, indices.shape.last ?? 1)
    for (index, position) in positions.enumerated() where index % depth < sizes.count {
      let size = sizes[index % depth]
      try require(
        (0..<size).contains(position), .mismatch,
        "the index \(position) is not within 0 and \(size - 1)", field: "indices")
    }
  }

  private func batchSize(_ x: ProgramValue, _ indices: ProgramValue, _ count: Int) throws -> Int {
    try require(
      count >= 0 && count < x.rank && count <= indices.rank
        && x.shape[..<count] == indices.shape[..<count],
      "\(count) for shapes \(x.shape) and \(indices.shape)", field: "batch_dims")
    return try checkedProduct(x.shape[..<count], limit: Limits.dimension)
  }

  /// Gathers slices of x along the axis, at the indices of each batch item.
  fileprivate func gathered(
    _ x: ProgramValue, _ indices: ProgramValue, batch: Int
  ) throws -> ProgramValue {
    let items = try batchSize(x, indices, batch)
    let axis = try axis("axis", rank: x.rank, 0)
    try require(
      axis >= batch, .unsupported, "axis \(axis) is one of the batch's \(batch)", field: "axis")
    let length = x.shape[axis]
    let (outer, inner) = (Array(x.shape[batch..<axis]), Array(x.shape[(axis + 1)...]))
    let before = try checkedProduct(outer, limit: Limits.tensorElements)
    let after = try checkedProduct(inner, limit: Limits.tensorElements)
    let count = try checkedProduct(indices.shape[batch...], limit: Limits.tensorElements)
    // One axis for the batch and one for the indices.
    let flat = try reshaped(
      transposed(reshaped(x, [items, before, length, after]), [0, 2, 1, 3]),
      [items * length, before, after])
    let given = try reshaped(indices, [items, count])
    let fromEnd = try add(
      WhereBroadcastable(), add(LessThan().with(\.alpha, 0), given, type: .bool),
      linear(given, 1, Float(length)), given, type: indices.type)
    let starts = constant((0..<items).map { Float($0 * length) }, [items, 1], indices.type)
    let found = try add(Gather(), flat, plus(fromEnd, starts))
    let shape: [[Int]] = [Array(x.shape[..<batch]), outer, Array(indices.shape[batch...]), inner]
    return try reshaped(transposed(found, [0, 2, 1, 3]), Array(shape.joined()))
  }

  /// Gathers slices of x at the positions in the last axis of each batch item's indices.
  fileprivate func gatheredPlaces(
    _ x: ProgramValue, _ indices: ProgramValue, batch: Int
  ) throws -> ProgramValue {
    if batch == 0 { return try add(GatherND(), x, indices) }
    let items = try batchSize(x, indices, batch)
    let depth = indices.shape.last ?? 0
    try require(
      batch < indices.rank && depth > 0 && batch + depth <= x.rank,
      "indices of shape \(indices.shape) for an input of shape \(x.shape)", field: "indices")
    let count = try checkedProduct(
      indices.shape[batch..<indices.rank - 1], limit: Limits.tensorElements)
    let numbers = try broadcast(
      constant((0..<items).map { Float($0) }, [items, 1, 1], indices.type), to: [items, count, 1])
    let positions = try concatenated([numbers, reshaped(indices, [items, count, depth])], 2)
    let found = try add(GatherND(), reshaped(x, [items] + x.shape[batch...]), positions)
    return try reshaped(found, indices.shape.dropLast() + x.shape[(batch + depth)...])
  }

  fileprivate func scatterMode() throws -> ScatterMode { try mode("mode", .add) }
}

let orderingRules: [OperationRule] = [
  OperationRule(
    "topk", "x k? axis? ascending? sort? return_indices? output_indices_dtype?",
    "the k largest or smallest elements along an axis, and their indices"
  ) { call in
    let x = try call.value("x")
    let layer = try TopK().with(\.axis, call.axis("axis", rank: x.rank, -1))
      .with(\.count, call.int("k") ?? 1).with(\.useBottomK, call.bool("ascending"))
    let type = try call.dataType("output_indices_dtype", .int32)
    return try call.addAll(layer, [x], types: [x.type, type])
  },
  OperationRule(
    "argsort", "x axis? ascending? output_dtype?", "the indices that sort the elements"
  ) { call in
    let x = try call.value("x")
    let layer = try ArgSort().with(\.axis, call.axis("axis", rank: x.rank, -1))
      .with(\.descending, !call.bool("ascending"))
    return [try call.add(layer, x, type: call.dataType("output_dtype", .int32))]
  },
  OperationRule("cumsum", "x axis? exclusive? reverse?", "the cumulative sum") { call in
    let x = try call.value("x")
    let layer = try CumSum().with(\.axis, call.axis("axis", rank: x.rank, 0))
      .with(\.excludeFinalSum, call.bool("exclusive")).with(\.reverse, call.bool("reverse"))
    return [try call.add(layer, x)]
  },
]
