import CoreMLModel
import TensorCore

let slicingRules: [String: ONNXRule] = [
  "slice_by_index": { try $0.sliced() },
  "slice_by_size": { call in
    let x = try call.value("x")
    if let begin = try call.constant("begin")?.ints(), let size = try call.constant("size")?.ints()
    {
      try require(begin.count == size.count, "\(begin) and \(size)", field: "size")
      let ends = zip(begin, size).map {
        $1 == -1 || $0 < 0 && $0 + $1 >= 0 ? Int(Int32.max) : $0 + $1
      }
      return [try call.add("Slice", [x, call.list(begin), call.list(ends)])]
    }
    let (begin, size) = (try call.sizes("begin"), try call.sizes("size"))
    // −1 stands for the rest of the axis.
    let isOpen = try call.add("Equal", [size, call.integers([-1], [])], type: .bool)
    let limit = try call.integers([Int(Int32.max)], [])
    let end = try call.add("Where", [isOpen, limit, call.binary("Add", begin, size)], type: .int64)
    return [try call.add("Slice", [x, begin, end])]
  },
  "slice_update": { try $0.updated() },
  "sliding_windows": { call in
    let x = try call.value("x")
    let axis = try call.axis("axis", of: x, 0)
    let (size, step) = (try call.int("size", 1), try call.int("stride", 1))
    guard let length = x.shape[axis], size > 0, step > 0, length >= size else {
      throw call.unsupported("the size of the axis is not known", field: "x")
    }
    let starts = stride(from: 0, through: length - size, by: step)
    _ = try checkedProduct([(length - size) / step + 1, size], limit: 1 << 24)
    let positions = starts.flatMap { Array($0..<$0 + size) }
    let indices = try call.integers(positions, [positions.count / size, size])
    return [try call.add("Gather", [x, indices], [("axis", .int(axis))])]
  },
  "crop": { call in
    [try call.cropped(call.value("x"), call.cropping())]
  },
]

let joiningRules: [String: ONNXRule] = [
  "concat": one { call in
    let values = try call.values("values")
    guard let first = values.first else { throw call.missing("values") }
    if first.rank == 0 {
      return try call.add("Concat", values.map { try call.unsqueeze($0, [0]) }, [("axis", .int(0))])
    }
    let axis = try call.axis("axis", of: first, 0)
    guard try call.bool("interleave") else {
      return try values.count == 1 ? first : call.add("Concat", values, [("axis", .int(axis))])
    }
    let stacked = try call.add(
      "Concat", values.map { try call.unsqueeze($0, [axis + 1]) }, [("axis", .int(axis + 1))])
    return try call.add("Reshape", [stacked, call.list(call.declared().shape.map { $0 ?? -1 })])
  },
  "stack": one { call in
    let values = try call.values("values")
    guard let first = values.first else { throw call.missing("values") }
    let axis = try ArrayShape.axis(call.int("axis", 0), rank: first.rank + 1)
    return try call.add(
      "Concat", values.map { try call.unsqueeze($0, [axis]) }, [("axis", .int(axis))])
  },
  "split": { call in
    let x = try call.value("x")
    let count = call.operation.outputs.count
    if count == 1 { return [x] }
    let axis = try call.axis("axis", of: x, 0)
    let sizes = try call.ints("split_sizes")
    // Equal parts need no list of sizes; since opset 18, they need their number.
    let isEqual = sizes == nil && call.graph.opset >= 18
    return try call.addAll(
      "Split", [x] + (sizes.map { [try call.list($0)] } ?? []),
      [("axis", .int(axis))] + (isEqual ? [("num_outputs", .int(count))] : []), outputs: count)
  },
]

/// The slices along the axes of an array.
private struct Slices {
  var begin: [Int]
  var end: [Int]
  var stride: [Int]
  var squeezed: [Bool]

  init(_ call: ExportedOperation, rank: Int) throws {
    begin = try call.list("begin", count: rank)
    end = try call.list("end", count: rank)
    stride = try call.list("stride", count: rank)
    squeezed = try call.flags("squeeze_mask", count: rank)
    try require(!stride.contains(0), "\(stride)", field: "stride")
    let (begins, ends) = (
      try call.flags("begin_mask", count: rank), try call.flags("end_mask", count: rank)
    )
    let limit = Int(Int32.max)
    for axis in 0..<rank {
      if squeezed[axis] {
        if begins[axis] { begin[axis] = 0 }
        (stride[axis], end[axis]) = (1, begin[axis] == -1 ? limit : begin[axis] + 1)
        continue
      }
      if begins[axis] { begin[axis] = stride[axis] > 0 ? 0 : limit }
      if ends[axis] { end[axis] = stride[axis] > 0 ? limit : -limit }
    }
  }

  /// The axes that are not kept whole.
  var axes: [Int] {
    begin.indices.filter { begin[$0] != 0 || end[$0] != Int(Int32.max) || stride[$0] != 1 }
  }
}

extension ExportedOperation {
  fileprivate func sliced() throws -> [GraphValue] {
    var x = try value("x")
    if try hasVariablePlace { return [try variableSlice(x)] }
    let slices = try Slices(self, rank: x.rank)
    let axes = slices.axes
    if !axes.isEmpty {
      var inputs = [
        x, try list(axes.map { slices.begin[$0] }), try list(axes.map { slices.end[$0] }),
        try list(axes),
      ]
      if axes.contains(where: { slices.stride[$0] != 1 }) {
        inputs.append(try list(axes.map { slices.stride[$0] }))
      }
      x = try add("Slice", inputs)
    }
    return [try squeeze(x, slices.squeezed.indices.filter { slices.squeezed[$0] })]
  }

  private var hasVariablePlace: Bool {
    get throws { try constant("begin") == nil || constant("end") == nil }
  }

  /// A slice whose place depends on the inputs.
  private func variableSlice(_ x: GraphValue) throws -> GraphValue {
    let squeezed = try flags("squeeze_mask", count: x.rank)
    let (begins, ends) = (
      try flags("begin_mask", count: x.rank), try flags("end_mask", count: x.rank)
    )
    let begin = try sizes("begin")
    // A single index along an axis is the slice [begin, begin + 1), whatever end is given.
    var end = try sizes("end")
    let single = squeezed.indices.filter { squeezed[$0] }
    if !single.isEmpty {
      let isSingle = try array(squeezed.map { $0 ? 1 : 0 }, [x.rank], .bool)
      end = try add(
        "Where", [isSingle, binary("Add", begin, integers([1], [1])), end], type: .int64)
    }
    func masked(_ positions: GraphValue, _ mask: [Bool], _ limit: Int) throws -> GraphValue {
      if !mask.contains(true) { return positions }
      let flags = try array(mask.map { $0 ? 1 : 0 }, [x.rank], .bool)
      return try add("Where", [flags, integers([limit], [1]), positions], type: .int64)
    }
    try require(
      try list("stride", count: x.rank).allSatisfy { $0 > 0 }, .unsupported,
      "a negative stride with places that depend on the inputs", field: "stride")
    let result = try add(
      "Slice",
      [
        x, masked(begin, begins, 0), masked(end, ends, Int(Int32.max)), list(Array(0..<x.rank)),
        list(list("stride", count: x.rank)),
      ])
    return try squeeze(result, single)
  }

  /// Scatters the update to the positions of the slice, along all axes up to the last sliced one.
  fileprivate func updated() throws -> [GraphValue] {
    let (x, update) = (try value("x"), try value("update"))
    guard let sizes = x.sizes else { throw unsupported("the sizes are not known", field: "x") }
    if try hasVariablePlace {
      // The elements' numbers, sliced, are the places of the update's elements.
      let count = try checkedProduct(sizes, limit: Limits.tensorElements)
      let range = try [0, count, 1].map { try integers([$0], []) }
      let places = try variableSlice(reshape(add("Range", range, shape: [count]), sizes))
      let flat = try [x, places, update].map { try reshape($0, [-1]) }
      return [try reshape(add("ScatterElements", flat), sizes)]
    }
    let slices = try Slices(self, rank: x.rank)
    guard let last = slices.axes.last else { return [try reshape(update, sizes)] }
    _ = try checkedProduct(sizes[...last], limit: 1 << 24)
    let positions = (0...last).map { axis -> [Int] in
      let size = sizes[axis]
      func position(_ value: Int) -> Int { min(max(value < 0 ? value + size : value, -1), size) }
      let step = slices.stride[axis]
      let (start, end) = (slices.begin[axis], slices.end[axis])
      return Array(
        stride(
          from: min(max(position(start), 0), size - (step < 0 ? 1 : 0)),
          to: end == -Int(Int32.max) ? -1 : max(position(end), step < 0 ? -1 : 0), by: step))
    }
    var tuples: [[Int]] = [[]]
    for axis in positions { tuples = tuples.flatMap { tuple in axis.map { tuple + [$0] } } }
    let counts = positions.map(\.count)
    let indices = try integers(tuples.flatMap { $0 }, counts + [last + 1])
    return [try add("ScatterND", [x, indices, reshape(update, counts + sizes[(last + 1)...])])]
  }
}
