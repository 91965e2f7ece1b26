import CoreMLModel
import TensorCore

let shapeRules: [String: ONNXRule] = [
  "reshape": { call in
    let x = try call.value("x")
    let declared = try call.declared()
    // At most one size may be inferred from the others.
    if declared.shape.filter({ $0 == nil }).count <= 1, !declared.shape.contains(0) {
      return [try call.add("Reshape", [x, call.list(declared.shape.map { $0 ?? -1 })])]
    }
    return [try call.add("Reshape", [x, call.sizes("shape")])]
  },
  "reshape_like": { call in
    let shape = try call.declared().sizes.orThrow(
      call.unsupported("the shape of the result is not known"))
    return [try call.add("Reshape", [call.value("x"), call.list(shape)])]
  },
  "expand_dims": one { call in
    let x = try call.value("x")
    let axes = try call.ints("axes") ?? []
    return try call.unsqueeze(x, ArrayShape.axes(axes, rank: x.rank + axes.count))
  },
  "squeeze": { call in
    let x = try call.value("x")
    let axes = try call.ints("axes").map { try ArrayShape.axes($0, rank: x.rank) }
    return [try call.squeeze(x, axes ?? x.shape.indices.filter { x.shape[$0] == 1 })]
  },
  "flatten2d": { call in
    [try call.add("Flatten", [call.value("x")], [("axis", .int(call.int("axis", 1)))])]
  },
  "transpose": { call in
    let x = try call.value("x")
    let axes = try (call.ints("perm") ?? []).map { try ArrayShape.axis($0, rank: x.rank, "perm") }
    try require(axes.count == x.rank, "\(axes) for an input of rank \(x.rank)", field: "perm")
    return [try call.transpose(x, axes)]
  },
  "shape": { call in
    let shape = try call.add("Shape", [call.value("x")], type: .int64)
    return [try call.cast(shape, to: call.declared().type)]
  },
  "reverse": { call in
    let x = try call.value("x")
    let axes = try ArrayShape.axes(call.ints("axes") ?? Array(0..<x.rank), rank: x.rank)
    return [try call.reversed(x, axes)]
  },
  "reverse_sequence": { call in
    let x = try call.value("x")
    let (time, batch) = (
      try call.axis("seq_axis", of: x, 0), try call.axis("batch_axis", of: x, 0)
    )
    let order = [time, batch] + (0..<x.rank).filter { $0 != time && $0 != batch }
    let reversed = try call.add(
      "ReverseSequence",
      [call.transpose(x, order), call.cast(call.value("lengths"), to: .int64)],
      [("time_axis", .int(0)), ("batch_axis", .int(1))], shape: order.map { x.shape[$0] })
    return [try call.transpose(reversed, order.indices.map { order.firstIndex(of: $0) ?? $0 })]
  },
  "non_zero": { call in
    let positions = try call.add("NonZero", [call.value("x")], type: .int64, shape: [nil, nil])
    return [try call.cast(call.transpose(positions, [1, 0]), to: call.declared().type)]
  },
  "tile": { [try $0.add("Tile", [$0.value("x"), $0.sizes("reps")])] },
  "pad": { try $0.padded() },
  "fill": { call in
    let value = try call.optional("value") ?? call.scalar(0, call.declared().type)
    return [try call.add("Expand", [value, call.sizes("shape")])]
  },
  "fill_like": { call in
    let value = try call.optional("value") ?? call.scalar(0, call.declared().type)
    let shape = try call.add("Shape", [call.value("ref_tensor")], type: .int64)
    return [try call.add("Expand", [value, shape])]
  },
  "range_1d": { call in
    let numbers = try ["start", "end", "step"].map { name in
      let number = try call.value(name)
      return number.rank == 0 ? number : try call.reshape(number, [])
    }
    return [try call.add("Range", numbers)]
  },
  "one_hot": { call in
    let indices = try call.value("indices")
    let type = try call.declared().type
    // In single precision, which ONNX Runtime supports.
    let values = try call.array(
      [call.float("off_value", 0), call.float("on_value", 1)], [2], .float32)
    let result = try call.add(
      "OneHot",
      [
        call.cast(indices, to: .int64), call.integers([call.int("one_hot_vector_size", 0)], []),
        values,
      ], [("axis", .int(call.int("axis", -1)))], type: .float32,
      shape: indices.shape + [nil])
    return [try call.cast(result, to: type)]
  },
  "space_to_batch": { try $0.spaceToBatch() },
  "batch_to_space": { try $0.batchToSpace() },
]

extension ExportedOperation {
  func reversed(_ x: GraphValue, _ axes: [Int]) throws -> GraphValue {
    func each(_ value: Int) throws -> GraphValue { try list(axes.map { _ in value }) }
    return try add("Slice", [x, each(-1), each(-Int(Int32.max)), list(axes), each(-1)])
  }

  fileprivate func padded() throws -> [GraphValue] {
    let x = try value("x")
    let amounts = try padding(rank: x.rank)
    let before = x.shape.indices.map { amounts[2 * $0] }
    let after = x.shape.indices.map { amounts[2 * $0 + 1] }
    let mode = try string("mode", "constant")
    if mode == "constant" { return [try self.pad(x, before, after, float("constant_val", 0))] }
    let name = try ["reflect": "reflect", "replicate": "edge"][mode].orThrow(
      unsupported("mode '\(mode)' is not supported", field: "mode"))
    return [try add("Pad", [x, list(before + after)], [("mode", .string(name))])]
  }

  /// The image, the sizes of a block, and the amounts at the edges.
  private func blocks(_ amounts: String) throws -> (x: GraphValue, block: [Int], edges: [Int]) {
    let (x, block, edges) = (
      try value("x"), try ints("block_shape") ?? [], try ints(amounts) ?? []
    )
    try require(
      x.rank == 4 && block.count == 2 && edges.count == 4 && block.allSatisfy { $0 > 0 },
      "\(block) and \(edges)", field: amounts)
    return (x, block, edges)
  }

  private func known(_ x: GraphValue) throws -> [Int] {
    guard let sizes = x.sizes else { throw unsupported("the sizes are not known", field: "x") }
    return sizes
  }

  fileprivate func spaceToBatch() throws -> [GraphValue] {
    var (x, block, edges) = try blocks("paddings")
    if edges.contains(where: { $0 != 0 }) {
      x = try pad(x, [0, 0, edges[0], edges[2]], [0, 0, edges[1], edges[3]], 0)
    }
    let s = try known(x)
    let parts = try reshape(
      x, [s[0], s[1], s[2] / block[0], block[0], s[3] / block[1], block[1]])
    let moved = try transpose(parts, [3, 5, 0, 1, 2, 4])
    return [try reshape(moved, [-1, s[1], s[2] / block[0], s[3] / block[1]])]
  }

  fileprivate func batchToSpace() throws -> [GraphValue] {
    let (x, block, edges) = try blocks("crops")
    let s = try known(x)
    let count = try checkedProduct(block)
    let parts = try reshape(x, block + [s[0] / max(1, count), s[1], s[2], s[3]])
    let moved = try transpose(parts, [2, 3, 4, 0, 5, 1])
    let joined = try reshape(moved, [-1, s[1], s[2] * block[0], s[3] * block[1]])
    return [try cropped(joined, edges)]
  }

  /// Crops the amounts at the top, bottom, left and right of images.
  func cropped(_ x: GraphValue, _ edges: [Int]) throws -> GraphValue {
    if edges.allSatisfy({ $0 == 0 }) { return x }
    func end(_ amount: Int) -> Int { amount == 0 ? Int(Int32.max) : -amount }
    return try add(
      "Slice",
      [
        x, list([edges[0], edges[2]]), list([end(edges[1]), end(edges[3])]),
        list([x.rank - 2, x.rank - 1]),
      ], shape: x.shape.map { _ in nil })
  }
}
