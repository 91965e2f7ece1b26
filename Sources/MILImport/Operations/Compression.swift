import CoreMLModel
import TensorCore

/// Compressed weights. Codes of a layer that give exactly the same values remain codes; others are
/// expanded when the program becomes layers.
let compressionRules: [OperationRule] = [
  OperationRule(
    "constexpr_affine_dequantize", "quantized_data zero_point scale axis",
    "(quantized_data − zero_point) · scale, along an axis"
  ) { call in
    let data = try call.weightArgument("quantized_data")
    let scale = try call.weightArgument("scale")
    let axis = try call.axis("axis", rank: data.shape.count, 0)
    var shape = [Int](repeating: 1, count: data.shape.count)
    func broadcast(_ elements: MILElements, _ name: String) throws -> [Int] {
      try require(
        elements.count == 1 || elements.count == data.shape[axis],
        "\(elements.count) values for \(data.shape[axis]) channels", field: name)
      shape[axis] = elements.count
      return shape
    }
    let offset = try call.weightArgument("zero_point")
    return [
      ProgramValue(
        try call.scaled(
          data, scale, broadcast(scale, "scale"), offset, broadcast(offset, "zero_point")))
    ]
  },
  OperationRule(
    "constexpr_blockwise_shift_scale", "data scale offset?",
    "(data − offset) · scale, with one scale and offset per block"
  ) { call in
    let data = try call.weightArgument("data")
    let scale = try call.weightArgument("scale")
    let offset = try call.elements("offset")
    return [ProgramValue(try call.scaled(data, scale, scale.shape, offset, offset?.shape ?? []))]
  },
  OperationRule(
    "constexpr_lut_to_dense", "indices lut shape? vector_axis?",
    "looks indices up in a table, or in one table per block"
  ) { call in
    if let shape = try call.ints("shape") { return [try call.tableOfiOS16(shape)] }
    return [ProgramValue(try call.tables(call.weightArgument("indices")))]
  },
  OperationRule(
    "constexpr_sparse_to_dense", "nonzero_data mask shape?",
    "the next value of nonzero_data at each 1 of the mask, 0 elsewhere"
  ) { call in
    let mask = try call.weightArgument("mask")
    let shape = try call.ints("shape") ?? mask.shape
    let count = try call.checkedCount(shape)
    let flags: [Int]
    if try call.ints("shape") != nil {
      guard let bytes = mask.bytes, bytes.count == (count + 7) / 8 else {
        throw ModelError(.malformed, "the mask has the wrong number of bits", field: "mask")
      }
      flags = MILElements.unpacked(bytes, bits: 1, count: count).map { Int($0) }
    } else {
      flags = try mask.ints()
    }
    return [ProgramValue(try call.dense(flags, shape, "nonzero_data"))]
  },
  OperationRule(
    "constexpr_lut_to_sparse", "indices_mask indices_nonzero_data lut vector_axis?",
    "looks the nonzero indices up in a table; 0 where the mask is 0"
  ) { call in
    let mask = try call.weightArgument("indices_mask")
    let indices = try call.dense(mask.ints(), mask.shape, "indices_nonzero_data")
    let values = try call.tables(indices)
    let length = try call.weightArgument("lut").shape.last ?? 1
    let isSet = try call.spread(mask.ints(), mask.shape, length)
    return try call.sparse(isSet, values)
  },
  OperationRule(
    "constexpr_sparse_blockwise_shift_scale", "data_mask nonzero_data scale offset?",
    "(nonzero_data − offset) · scale, with one scale and offset per block; 0 where the mask is 0"
  ) { call in
    let mask = try call.weightArgument("data_mask")
    let data = try call.dense(mask.ints(), mask.shape, "nonzero_data")
    let (scale, offset) = (try call.weightArgument("scale"), try call.elements("offset"))
    let values = try call.scaled(data, scale, scale.shape, offset, offset?.shape ?? [])
    return try call.sparse(mask.ints(), values)
  },
  OperationRule("constexpr_cast", "source_val output_dtype", "converts source_val to another type")
  { call in
    let source = try call.weightArgument("source_val")
    let type = try call.dataType("output_dtype", .float32)
    return [ProgramValue(MILElements(try source.floats(), source.shape, type))]
  },
]

extension OperationCall {
  fileprivate func weightArgument(_ name: String) throws -> MILElements {
    try elements(name).orThrow(missing(name))
  }

  fileprivate func checkedCount(_ shape: [Int]) throws -> Int {
    try require(
      shape.count <= Limits.rank && shape.allSatisfy { $0 > 0 }, "\(shape)", field: "shape")
    return try checkedProduct(shape, limit: Limits.tensorElements)
  }

  /// (data − offset) · scale, with one offset and scale per block of data.
  fileprivate func scaled(
    _ data: MILElements, _ scale: MILElements, _ scaleShape: [Int], _ offset: MILElements?,
    _ offsetShape: [Int]
  ) throws -> MILElements {
    if let codes = try linearCodes(data, scale, scaleShape, offset, offsetShape) {
      return MILElements(codes: codes, data.shape, scale.type)
    }
    var values = try data.floats()
    if let offset {
      let offsets = try offset.floats()
      try forEachBlock(data.shape, offsetShape) { run, block in
        for index in run { values[index] -= offsets[block] }
      }
    }
    let factors = try scale.floats()
    try forEachBlock(data.shape, scaleShape) { run, block in
      for index in run { values[index] *= factors[block] }
    }
    return expanded(values, data.shape, scale.type)
  }

  /// Numbers rounded to half precision if that is their type.
  private func expanded(_ values: [Float], _ shape: [Int], _ type: MILDataType) -> MILElements {
    type == .float16
      ? MILElements(Half.bytes(values), shape, type) : MILElements(values, shape, type)
  }

  /// Codes of a layer with the value Float(scale · (data − offset)), or nil if the layer's value
  /// differs from the operation's in its rounding.
  private func linearCodes(
    _ data: MILElements, _ scale: MILElements, _ scaleShape: [Int], _ offset: MILElements?,
    _ offsetShape: [Int]
  ) throws -> Weights? {
    let rows = data.shape.first ?? 1
    func isPerRow(_ shape: [Int]) -> Bool {
      shape.count == data.shape.count && [1, rows].contains(shape.first ?? 1)
        && shape.dropFirst().allSatisfy { $0 == 1 }
    }
    guard let bytes = data.bytes, let bits = data.type.bitWidth, bits <= 8, !data.type.isFloat,
      data.count > 0, isPerRow(scaleShape), offset == nil || isPerRow(offsetShape)
    else { return nil }
    // Added to signed integers, so that a layer's codes are not negative.
    let shift = data.type == .int8 || data.type == .int4 ? 1 << (bits - 1) : 0
    func codes(_ kind: Quantization.Kind, roundsToHalf: Bool = false) -> Weights {
      var weights = layerCodes(bytes, bits, count: data.count, adding: shift, kind)
      weights.quantization?.roundsToHalf = roundsToHalf
      return weights
    }
    let (scales, offsets) = (try scale.floats(), try offset?.floats() ?? [0])
    let isHalf = scale.type == .float16
    if scale.type == .float32 || isHalf && max(scales.count, offsets.count) > 1 {
      // A layer's value is scale · code + bias, rounded once or, to half precision, once more. So is
      // the operation's if code − offset, below 2⁹, has no bits below 2⁻¹⁵; and the bias must be exact.
      var (biases, isExact) = ([Float](), offsets.allSatisfy(Self.isExact))
      for row in 0..<max(scales.count, offsets.count) {
        let scale = Double(scales[scales.count == 1 ? 0 : row])
        let bias = -scale * (Double(offsets[offsets.count == 1 ? 0 : row]) + Double(shift))
        biases.append(Float(bias))
        isExact = isExact && Float(bias).isFinite && Double(Float(bias)) == bias
      }
      if isExact { return codes(.linear(scale: scales, bias: biases), roundsToHalf: isHalf) }
    }
    guard scales.count == 1, offsets.count == 1 else { return nil }
    return codes(
      .lookupTable(
        (0..<1 << bits).map { code in
          let value = (Float(code - shift) - offsets[0]) * scales[0]
          return isHalf ? Half.rounded(value) : value
        }))
  }

  /// Whether the difference from any code is exact in single precision.
  private static func isExact(_ offset: Float) -> Bool {
    abs(offset) <= 256 && (offset * 0x1p15).rounded() == offset * 0x1p15
  }

  /// Integers plus a number that makes them positive, as codes of a layer.
  private func layerCodes(
    _ bytes: Bytes, _ bits: Int, count: Int, adding shift: Int = 0, _ kind: Quantization.Kind
  ) -> Weights {
    var weights = Weights()
    weights.rawValue =
      bits == 8 && shift == 0
      ? bytes
      : PackedCodes.pack(
        // In two's complement, adding half the range changes only the highest bit.
        MILElements.unpacked(bytes, bits: bits, count: count).map { $0 ^ UInt8(shift) }, bits: bits)
    weights.quantization = Quantization(bits: bits, kind)
    return weights
  }

  /// Passes each run of elements of `shape` in one block, and the index of the block in an array of
  /// shape `blocks`.
  private func forEachBlock(
    _ shape: [Int], _ blocks: [Int], _ body: (Range<Int>, Int) -> Void
  ) throws {
    try require(
      shape.count == blocks.count && zip(shape, blocks).allSatisfy { $1 > 0 && $0 % $1 == 0 },
      "the shape \(shape) cannot be divided into blocks \(blocks)")
    let count = shape.reduce(1, *)
    let last = blocks.lastIndex { $0 > 1 }
    let run = last.map { shape[$0...].reduce(1, *) / blocks[$0] } ?? count
    for first in stride(from: 0, to: count, by: max(run, 1)) {
      var (rest, position, step) = (first, 0, 1)
      for axis in shape.indices.reversed() {
        position += rest % shape[axis] / (shape[axis] / blocks[axis]) * step
        rest /= shape[axis]
        step *= blocks[axis]
      }
      body(first..<first + run, position)
    }
  }

  /// A single table; the indices are packed bits.
  fileprivate func tableOfiOS16(_ shape: [Int]) throws -> ProgramValue {
    let table = try weightArgument("lut")
    let count = try checkedCount(shape)
    let bits = (0...8).first { 1 << $0 == table.count }
    guard let bits, bits > 0 else {
      throw ModelError(
        .malformed, "\(table.count) entries; a table has 2, 4, 8, … 256", field: "lut")
    }
    guard let bytes = try weightArgument("indices").bytes, bytes.count == (count * bits + 7) / 8
    else {
      throw ModelError(
        .malformed, "the number of indices differs from the number of elements", field: "indices")
    }
    let codes = layerCodes(bytes, bits, count: count, .lookupTable(try table.floats()))
    return ProgramValue(MILElements(codes: codes, shape, table.type))
  }

  /// One table per block: the shape of `lut` is the number of blocks along each axis, the number of
  /// entries, and the length of an entry, whose elements are along an axis of the result.
  fileprivate func tables(_ indices: MILElements) throws -> MILElements {
    let table = try weightArgument("lut")
    let rank = indices.shape.count
    try require(
      table.shape.count == rank + 2, "the shape is \(table.shape) for indices of \(indices.shape)",
      field: "lut")
    let (entries, length) = (table.shape[rank], table.shape[rank + 1])
    if table.count == entries, let bytes = indices.bytes, let bits = indices.type.bitWidth,
      bits <= 8, entries == 1 << bits, indices.count > 0
    {
      let codes = layerCodes(
        bytes, bits, count: indices.count, .lookupTable(try table.floats()))
      return MILElements(codes: codes, indices.shape, table.type)
    }
    let codes = try indices.ints()
    try require(
      codes.allSatisfy { (0..<entries).contains($0) },
      "an index is outside the table of \(entries) entries", field: "indices")
    let values = try table.floats()
    var first = [Int](repeating: 0, count: codes.count)
    try forEachBlock(indices.shape, Array(table.shape[..<rank])) { run, block in
      for index in run { first[index] = (block * entries + codes[index]) * length }
    }
    let shape = try spreadShape(indices.shape, length)
    _ = try checkedCount(shape)
    let inner = try spreadInner(indices.shape, length)
    let positions = try spread(first, indices.shape, length)
    return expanded(
      positions.indices.map { values[positions[$0] + $0 / inner % length] }, shape, table.type)
  }

  /// The shape with each element repeated along the vector axis.
  private func spreadShape(_ shape: [Int], _ length: Int) throws -> [Int] {
    if length == 1 { return shape }
    var shape = shape
    shape[try axis("vector_axis", rank: shape.count, 0)] *= length
    return shape
  }

  /// The number of elements after the vector axis.
  private func spreadInner(_ shape: [Int], _ length: Int) throws -> Int {
    if length == 1 { return 1 }
    return shape[(try axis("vector_axis", rank: shape.count, 0) + 1)...].reduce(1, *)
  }

  /// Repeats each element along the vector axis.
  fileprivate func spread(_ values: [Int], _ shape: [Int], _ length: Int) throws -> [Int] {
    if length == 1 { return values }
    let inner = try spreadInner(shape, length)
    return (0..<values.count * length).map { index in
      values[index / (inner * length) * inner + index % inner]
    }
  }

  /// Data at the positions of a mask, and zeros elsewhere.
  fileprivate func dense(_ flags: [Int], _ shape: [Int], _ name: String) throws -> MILElements {
    let data = try weightArgument(name)
    var values = try data.floats()[...]
    try require(
      flags.reduce(0, +) == values.count,
      "\(values.count) values for a mask of \(flags.reduce(0, +))", field: name)
    return expanded(flags.map { $0 == 0 ? 0 : values.popFirst() ?? 0 }, shape, data.type)
  }

  /// The mask, and the values at its positions.
  fileprivate func sparse(_ mask: [Int], _ values: MILElements) throws -> [ProgramValue] {
    let kept = zip(mask, try values.floats()).filter { $0.0 != 0 }.map(\.1)
    return [
      ProgramValue(MILElements(mask, values.shape, .uint1)),
      ProgramValue(MILElements(kept, [kept.count], values.type)),
    ]
  }
}
