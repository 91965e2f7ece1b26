import CoreMLModel
import TensorCore

let slicingRules: [OperationRule] = [
  OperationRule(
    "slice_by_index", "x begin end stride? begin_mask? end_mask? squeeze_mask?",
    "slices from begin to end along each axis"
  ) { call in
    let x = try call.value("x")
    let layer = try call.slice(of: x)
    let shape = try layer.lengths(x.blobShape)
    if shape.contains(0) { return [call.constant([], shape, x.type)] }
    var result = try call.add(layer, x)
    // A blob has at least one axis.
    if shape.isEmpty { result = try call.add(ReshapeStatic().with(\.targetShape, [1]), result) }
    result.shape = shape
    return [result]
  },
  OperationRule(
    "slice_by_size", "x begin size", "slices of size elements from begin along each axis"
  ) {
    call in
    let x = try call.value("x")
    let (begin, size) = (try call.ints("begin") ?? [], try call.ints("size") ?? [])
    try require(
      begin.count == x.rank && size.count == x.rank,
      "\(begin) and \(size) for an input of rank \(x.rank)", field: "size")
    var layer = SliceStatic()
    for (axis, length) in x.shape.enumerated() {
      let start = try ArrayShape.axis(begin[axis], rank: length, "begin")
      let count = size[axis] == -1 ? length - start : size[axis]
      try require(
        count > 0 && count <= length - start, "\(count) elements from \(start) of \(length)",
        field: "size")
      layer.beginIds.append(start)
      layer.endIds.append(start + count)
    }
    layer.strides = [Int](repeating: 1, count: x.rank)
    layer.beginMasks = [Bool](repeating: false, count: x.rank)
    layer.endMasks = layer.beginMasks
    layer.squeezeMasks = layer.beginMasks
    return [try call.add(layer, x)]
  },
  OperationRule(
    "slice_update", "x update begin end stride? begin_mask? end_mask? squeeze_mask?",
    "x with the slice from begin to end along each axis replaced"
  ) { try $0.updated() },
  OperationRule(
    "sliding_windows", "x axis size stride?", "sliding windows of size elements along an axis"
  ) { call in
    let x = try call.value("x")
    let layer = try SlidingWindows().with(\.axis, call.axis("axis", rank: x.rank, 0))
      .with(\.windowSize, call.int("size") ?? 0).with(\.step, call.int("stride") ?? 1)
    return [try call.add(layer, x)]
  },
]

extension OperationCall {
  fileprivate func slice(of x: ProgramValue) throws -> SliceStatic {
    var layer = SliceStatic()
    layer.beginIds = try ints("begin") ?? []
    layer.endIds = try ints("end") ?? []
    layer.strides = try ints("stride") ?? [Int](repeating: 1, count: x.rank)
    layer.beginMasks = try flags("begin_mask", count: x.rank)
    layer.endMasks = try flags("end_mask", count: x.rank)
    layer.squeezeMasks = try flags("squeeze_mask", count: x.rank)
    return layer
  }

  /// Scatters the update to the positions of the slice, along all axes up to the last sliced one.
  fileprivate func updated() throws -> [ProgramValue] {
    let (x, update) = (try value("x"), try value("update"))
    let layer = try slice(of: x)
    let ranges = try layer.ranges(x.blobShape)
    let counts = ranges.map(\.count)
    let stated = counts.indices.filter { !layer.squeezeMasks[$0] }.map { counts[$0] }
    try require(
      update.shape == stated, "the shape is \(update.shape); the slice has \(stated)",
      field: "update")
    let isWhole = ranges.indices.map {
      ranges[$0] == AxisRange(start: 0, step: 1, count: x.shape[$0])
    }
    guard let last = isWhole.lastIndex(of: false) else {
      return [try reshaped(update, x.shape).with(type: x.type)]
    }
    let depth = last + 1
    let total = try checkedProduct(counts[..<depth], limit: 1 << 24)
    var positions: [Int] = []
    positions.reserveCapacity(total * depth)
    for index in 0..<total {
      positions += zip(ranges, ArrayShape.position(of: index, in: counts[..<depth])).map {
        $0.start + $1 * $0.step
      }
    }
    let indices = ProgramValue(MILElements(positions, Array(counts[..<depth]) + [depth]))
    return [try add(ScatterND(), x, indices, reshaped(update, counts))]
  }
}

let joiningRules: [OperationRule] = [
  OperationRule("concat", "values axis interleave?", "concatenates arrays along an axis") { call in
    let values = try call.values("values")
    let first = try values.first.orThrow(
      ModelError(.malformed, "the values are missing", field: "values"))
    // Scalars are concatenated to a vector.
    let arrays = try values.map { try $0.rank == 0 ? call.reshaped($0, [1]) : $0 }
    if arrays.count == 1 { return arrays }
    let axis = try first.rank == 0 ? 0 : call.axis("axis", rank: first.rank, 0)
    let layer = try ConcatND().with(\.axis, axis).with(\.interleave, call.bool("interleave"))
    return try call.addAll(layer, arrays, types: [first.type])
  },
  OperationRule("stack", "values axis", "stacks arrays along a new axis") { call in
    let values = try call.values("values")
    let first = try values.first.orThrow(
      ModelError(.malformed, "the values are missing", field: "values"))
    let axis = try call.axis("axis", rank: first.rank + 1, 0)
    if first.rank == 0 || values.count == 1 {
      var shape = first.shape
      shape.insert(1, at: axis)
      let parts = try values.map { try call.reshaped($0, shape) }
      return [try call.concatenated(parts, axis)]
    }
    return try call.addAll(Stack().with(\.axis, axis), values, types: [first.type])
  },
  OperationRule("split", "x num_splits? split_sizes? axis", "splits an array along an axis") {
    call in
    let x = try call.value("x")
    var layer = SplitND()
    layer.axis = try call.axis("axis", rank: x.rank, 0)
    layer.splitSizes = try call.ints("split_sizes") ?? []
    layer.numSplits = try call.int("num_splits") ?? layer.splitSizes.count
    let sizes = try layer.sizes(of: x.shape[layer.axis])
    if sizes.count == 1 { return [x] }
    return try call.addAll(layer, [x], types: sizes.map { _ in x.type })
  },
]
