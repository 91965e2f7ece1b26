import CoreMLModel
import TensorCore

/// Operations that reshape and reorder elements.
let shapeRules: [OperationRule] = [
  OperationRule(
    "reshape", "x shape",
    "x with another shape; −1 stands for the remaining elements, 0 for the size of the axis that is as far from the last, or 1"
  ) { call in
    let x = try call.value("x")
    guard var shape = try call.ints("shape") else { return [] }
    let added = shape.count - x.rank
    for axis in shape.indices where shape[axis] == 0 {
      shape[axis] = axis < added ? 1 : x.shape[axis - added]
    }
    let layer = ReshapeStatic().with(\.targetShape, shape.isEmpty ? [1] : shape)
    let target = try layer.blobShapes([x.blobShape])[0]
    return [try call.reshaped(x, shape.isEmpty ? [] : target)]
  },
  OperationRule(
    "reshape_like", "x ref_tensors begins ends end_masks",
    "x with a shape assembled from the shapes of other arrays"
  ) { try $0.reshapedLike() },
  OperationRule("expand_dims", "x axes", "adds axes of length 1") { call in
    let x = try call.value("x")
    let axes = try call.ints("axes") ?? []
    try require(!axes.isEmpty, "the axes are missing", field: "axes")
    if x.rank == 0 { return [try call.reshaped(x, [Int](repeating: 1, count: axes.count))] }
    return [try call.add(ExpandDims().with(\.axes, axes), x)]
  },
  OperationRule("squeeze", "x axes?", "removes axes of length 1") { call in
    let x = try call.value("x")
    let axes =
      try call.ints("axes").map { try ArrayShape.axes($0, rank: x.rank) }
      ?? x.shape.indices.filter { x.shape[$0] == 1 }
    try require(
      axes.allSatisfy { x.shape[$0] == 1 }, "the axes \(axes) of \(x.shape) are not of length 1",
      field: "axes")
    let kept = x.shape.indices.filter { !axes.contains($0) }.map { x.shape[$0] }
    return [try call.reshaped(x, kept)]
  },
  OperationRule("flatten2d", "x axis?", "x as a matrix") { call in
    [try call.add(FlattenTo2D().with(\.axis, call.int("axis") ?? 1), call.value("x"))]
  },
  OperationRule("transpose", "x perm", "permutes the axes of x") { call in
    let x = try call.value("x")
    let axes = try (call.ints("perm") ?? []).map { try ArrayShape.axis($0, rank: x.rank, "perm") }
    try require(axes.count == x.rank, "\(axes) for an input of rank \(x.rank)", field: "perm")
    return [try call.transposed(x, axes)]
  },
  OperationRule("shape", "x output_dtype?", "the shape of x") { call in
    let x = try call.value("x")
    return [ProgramValue(MILElements(x.shape, [x.rank], try call.dataType("output_dtype", .int32)))]
  },
  OperationRule("reverse", "x axes?", "reverses x along the axes") { call in
    let x = try call.value("x")
    let axes = try ArrayShape.axes(call.ints("axes") ?? Array(0..<x.rank), rank: x.rank)
    return [try call.add(Reverse().with(\.reverseDim, (0..<x.rank).map(axes.contains)), x)]
  },
  OperationRule(
    "reverse_sequence", "x lengths seq_axis? batch_axis?",
    "reverses the first elements of each batch item"
  ) { call in
    let (x, lengths) = (try call.value("x"), try call.value("lengths"))
    var layer = ReverseSeq()
    layer.sequenceAxis = try call.axis("seq_axis", rank: x.rank, 0)
    layer.batchAxis = try call.axis("batch_axis", rank: x.rank, 0)
    if layer.batchAxis < layer.sequenceAxis { return [try call.add(layer, x, lengths)] }
    // The layer needs the batch first.
    var order = Array(0..<x.rank)
    order.swapAt(layer.batchAxis, layer.sequenceAxis)
    swap(&layer.batchAxis, &layer.sequenceAxis)
    return [try call.transposed(call.add(layer, call.transposed(x, order), lengths), order)]
  },
  OperationRule("non_zero", "x", "the indices of the nonzero elements") { call in
    let x = try call.value("x")
    let values = try call.floats("x") ?? []
    var positions: [Int] = []
    for (index, value) in values.enumerated() where value != 0 {
      positions += ArrayShape.position(of: index, in: x.shape)
    }
    return [ProgramValue(MILElements(positions, [positions.count / max(1, x.rank), x.rank]))]
  },
  OperationRule("tile", "x reps", "repeats x along each axis") { call in
    let x = try call.value("x")
    let layer = try Tile().with(\.reps, call.ints("reps") ?? [])
    if let shape = try layer.emptyShape([x.blobShape]) { return [call.constant([], shape, x.type)] }
    return [try call.add(layer, x)]
  },
  OperationRule("pad", "x pad mode? constant_val?", "pads x") { try $0.padded() },
  OperationRule("fill", "shape value?", "an array of this shape, filled with one value") { call in
    let value = try call.elements("value") ?? MILElements([0 as Float], [], .float32)
    let layer = try FillStatic().with(\.value, value.floats().first ?? 0)
      .with(\.targetShape, call.ints("shape") ?? [])
    if let shape = try layer.emptyShape([]) { return [call.constant([], shape, value.type)] }
    return try call.addAll(layer, [], types: [value.type])
  },
  OperationRule(
    "fill_like", "ref_tensor value?", "an array with the shape of ref_tensor, filled with one value"
  ) { call in
    let shape = try call.value("ref_tensor").shape
    let value = try call.elements("value") ?? MILElements([0 as Float], [], .float32)
    let layer = try FillStatic().with(\.value, value.floats().first ?? 0)
      .with(\.targetShape, shape.isEmpty ? [1] : shape)
    return [try call.reshaped(call.addAll(layer, [], types: [value.type])[0], shape)]
  },
  OperationRule("range_1d", "end start step", "evenly spaced numbers") { call in
    var layer = RangeStatic()
    let end = try call.value("end")
    layer.endValue = try call.float("end", 0)
    layer.startValue = try call.float("start", 0)
    layer.stepSizeValue = try call.float("step", 1)
    return try call.addAll(layer, [], types: [end.type])
  },
  OperationRule(
    "band_part", "x lower? upper?", "keeps a diagonal band of each matrix and sets the rest to 0"
  ) { call in
    let layer = try MatrixBandPart().with(\.numLower, call.int("lower") ?? -1)
      .with(\.numUpper, call.int("upper") ?? -1)
    return [try call.add(layer, call.value("x"))]
  },
  OperationRule(
    "one_hot", "indices one_hot_vector_size axis? on_value? off_value?",
    "on_value at the position of each index, off_value elsewhere"
  ) { call in
    let indices = try call.value("indices")
    var layer = OneHot()
    layer.oneHotVectorSize = try call.int("one_hot_vector_size") ?? 0
    layer.axis = try call.axis("axis", rank: indices.rank + 1, -1)
    layer.onValue = try call.float("on_value", 1)
    layer.offValue = try call.float("off_value", 0)
    let type = try call.optional("on_value")?.type ?? .int32
    return [try call.add(layer, indices, type: type)]
  },
]

extension OperationCall {
  fileprivate func reshapedLike() throws -> [ProgramValue] {
    let (x, references) = (try value("x"), try values("ref_tensors"))
    func numbers(_ name: String) throws -> [Int] {
      let numbers = try values(name).compactMap { try lowering.elements($0)?.ints().first }
      try require(
        numbers.count == references.count,
        "\(numbers.count) numbers for \(references.count) arrays", field: name)
      return numbers
    }
    let (begins, ends) = (try numbers("begins"), try numbers("ends"))
    let masks = try numbers("end_masks")
    var shape: [Int] = []
    for (index, reference) in references.enumerated() {
      let rank = reference.rank
      func position(_ number: Int) -> Int { min(max(number < 0 ? number + rank : number, 0), rank) }
      let (begin, end) = (position(begins[index]), masks[index] != 0 ? rank : position(ends[index]))
      if begin < end { shape += reference.shape[begin..<end] }
    }
    return [try reshaped(x, shape)]
  }

  fileprivate func padded() throws -> [ProgramValue] {
    let x = try value("x")
    let amounts = try padding(rank: x.rank)
    let mode = try string("mode", "constant")
    if mode == "constant" {
      let value = try float("constant_val", 0)
      return [try add(ConstantPad().with(\.value, value).with(\.padAmounts, amounts), x)]
    }
    try require(
      ["reflect", "replicate"].contains(mode), .unsupported, "mode '\(mode)' is not supported",
      field: "mode")
    // A layer can only reflect fewer elements than the axis has.
    let isLong =
      mode == "reflect"
      && x.shape.indices.contains { max(amounts[2 * $0], amounts[2 * $0 + 1]) >= x.shape[$0] }
    if isLong || amounts.dropLast(4).contains(where: { $0 != 0 }) {
      return [try bordered(x, amounts, mode)]
    }
    var layer = Padding()
    layer.kind = mode == "reflect" ? .reflection : .replication
    let edges = Array(([0, 0, 0, 0] + amounts).suffix(4))
    layer.paddingAmounts = BorderAmounts(
      top: edges[0], bottom: edges[1], left: edges[2], right: edges[3])
    // Combines all axes before the last two.
    let rows = x.rank > 1 ? x.shape[x.rank - 2] : 1
    let columns = x.shape.last ?? 1
    let images = try checkedProduct(x.shape.dropLast(2), limit: Limits.dimension)
    let result = try add(layer, reshaped(x, [images, rows, columns]))
    let leading = Array(x.shape.dropLast(2))
    return [
      try reshaped(result, leading + (x.rank > 1 ? [result.shape[1]] : []) + [result.shape[2]])
    ]
  }

  /// Pads any axes by gathering elements.
  private func bordered(
    _ x: ProgramValue, _ amounts: [Int], _ mode: String
  ) throws -> ProgramValue {
    var result = x
    for (axis, length) in x.shape.enumerated() {
      let (before, after) = (amounts[2 * axis], amounts[2 * axis + 1])
      try require(
        length > 0 && before + after <= Limits.tensorElements / 64 || before + after == 0,
        "a border of \(before + after) around \(length) elements", field: "pad")
      // As in NumPy, long reflections are reflected again.
      let period = max(2 * (length - 1), 1)
      let positions = (-before..<length + after).map { position in
        mode == "replicate"
          ? min(max(position, 0), length - 1)
          : min(abs(position) % period, period - abs(position) % period)
      }
      result = try taken(result, positions, axis: axis)
    }
    return result
  }
}
