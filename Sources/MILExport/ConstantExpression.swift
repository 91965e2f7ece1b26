import CoreMLModel
import TensorCore

/// A constant of a program, as the operation that expands its compressed form.
struct ConstantExpression {
  enum Storage {
    /// The values, in the type of the constant.
    case values(FloatValues)
    /// The values in half precision, for a single-precision constant.
    case half(Bytes)
    /// The nonzero values, and a bit mask of their positions.
    case sparse([Float])
    case tables(TableCodes)
    case linear(LinearCodes)
  }

  /// Codes that index tables, with one table for each of several equal parts along an axis.
  struct TableCodes {
    var codes: [Int]
    var bits: Int
    var tables: [[Float]]
    var axis = 0
  }

  /// scale · q + bias, with as many scales and biases along each axis as `blocks` states, or one.
  struct LinearCodes {
    var codes: [Int]
    var bits: Int
    var isSigned: Bool
    var scale: [Float]
    var bias: [Float]
    var blocks: [Int]
  }

  let shape: [Int]
  let storage: Storage
  let type: MILDataType

  /// Adds the operation.
  ///
  /// - Throws: `NewerTargetNeeded` or `.unsupported` if the target has no such operation.
  func variable(_ builder: ProgramBuilder, name: String) throws -> Variable {
    switch storage {
    case .values(let values): return try builder.constant(values, shape, type, name: name)
    case .half(let bytes):
      try builder.requireTarget(.iOS16, "half-precision weights in single-precision computations")
      return try expand(
        "constexpr_cast",
        [
          ("source_val", try builder.stored(bytes, .float16, shape, count: bytes.count / 2)),
          ("output_dtype", MILValue("fp32")),
        ], builder, name)
    case .sparse(let values): return try sparse(values, builder, name)
    case .tables(let values): return try lookup(values, builder, name)
    case .linear(let values): return try linear(values, builder, name)
    }
  }

  // MARK: - Operations

  private func sparse(
    _ values: [Float], _ builder: ProgramBuilder, _ name: String
  ) throws -> Variable {
    try builder.requireTarget(.iOS16, "sparse weights")
    let kept = values.filter { $0 != 0 }
    let mask = Self.packed(values.map { $0 == 0 ? 0 : 1 }, bits: 1)
    let data = try stored(kept, [kept.count], builder)
    if builder.target >= .iOS18 {
      return try expand(
        "constexpr_sparse_to_dense",
        [("nonzero_data", data), ("mask", try stored(mask, .uint1, shape, builder))], builder, name)
    }
    return try expand(
      "constexpr_sparse_to_dense",
      [
        ("nonzero_data", data), ("mask", try stored(mask, .uint8, [mask.count], builder)),
        ("shape", Self.sizes(shape)),
      ], builder, name)
  }

  private func lookup(
    _ values: TableCodes, _ builder: ProgramBuilder, _ name: String
  ) throws -> Variable {
    let (tables, bits) = (values.tables, values.bits)
    // The operations support 1, 2, 3, 4, 6 and 8 bits; a wider code with the same table is
    // equivalent.
    let allowed = builder.target >= .iOS18 ? [1, 2, 3, 4, 6, 8] : [1, 2, 4, 6, 8]
    let width = allowed.first { $0 >= bits } ?? 8
    let entries = tables.flatMap { $0 + [Float](repeating: 0, count: (1 << width) - $0.count) }
    try builder.requireTarget(tables.count > 1 ? .iOS18 : .iOS16, "compressed weights of this kind")
    let bytes = Self.packed(values.codes, bits: width)
    if builder.target >= .iOS18 {
      let types: [Int: MILDataType] = [
        1: .uint1, 2: .uint2, 3: .uint3, 4: .uint4, 6: .uint6, 8: .uint8,
      ]
      var tableShape = [Int](repeating: 1, count: shape.count) + [1 << width, 1]
      tableShape[values.axis] = tables.count
      return try expand(
        "constexpr_lut_to_dense",
        [
          ("indices", try stored(bytes, types[width] ?? .uint8, shape, builder)),
          ("lut", try stored(entries, tableShape, builder)),
        ], builder, name)
    }
    return try expand(
      "constexpr_lut_to_dense",
      [
        ("indices", try stored(bytes, .uint8, [bytes.count], builder)),
        ("lut", try stored(entries, [entries.count], builder)), ("shape", Self.sizes(shape)),
      ], builder, name)
  }

  /// w = scale · q + bias, as scale · (q − offset).
  private func linear(
    _ values: LinearCodes, _ builder: ProgramBuilder, _ name: String
  ) throws -> Variable {
    let (bits, isSigned, blocks) = (values.bits, values.isSigned, values.blocks)
    let (scale, bias) = (values.scale, values.bias)
    var codes = values.codes
    let count = max(scale.count, bias.count)
    var scales = scale.count == count ? scale : [Float](repeating: scale[0], count: count)
    var biases = bias.count == count ? bias : [Float](repeating: bias[0], count: count)
    if builder.target < .iOS18, count == 1, !isSigned, bits <= 8 {
      // A table represents the values exactly.
      let table = (0..<1 << bits).map {
        Float(Double(scales[0]) * Double($0) + Double(biases[0]))
      }
      return try lookup(TableCodes(codes: codes, bits: bits, tables: [table]), builder, name)
    }
    let equal = scales.indices.filter { scales[$0] == 0 }
    if !equal.isEmpty {
      // Equal values have the scale 0; they become the scale, with the code 1 and no offset.
      for block in equal { (scales[block], biases[block]) = (biases[block], 0) }
      let positions = Set(equal)
      for index in codes.indices where positions.contains(count == 1 ? 0 : block(of: index, blocks))
      {
        codes[index] = 1
      }
    }
    let offsets = zip(biases, scales).map { $1 == 0 ? 0 : -$0 / $1 }
    if type == .float16, zip(scales, offsets).contains(where: { !Self.isHalf($0, $1) }) {
      let values = codes.enumerated().map { index, code in
        let position = count == 1 ? 0 : block(of: index, blocks)
        return scales[position] * Float(code) + biases[position]
      }
      return try builder.constant(FloatValues(values), shape, type, name: name)
    }
    let range = isSigned ? Float(-128)...127 : 0...255
    let areWhole = offsets.allSatisfy { $0 == $0.rounded() && range.contains($0) }
    let axis = blocks.firstIndex { $0 > 1 } ?? 0
    let isByChannel = count == 1 || count == shape[axis]
    if builder.target < .iOS18, areWhole, isByChannel {
      try builder.requireTarget(.iOS16, "compressed weights")
      let type: MILDataType = isSigned ? .int8 : .uint8
      func whole(_ values: [Int]) -> [UInt8] { values.map { UInt8(truncatingIfNeeded: $0) } }
      let zero = whole(offsets.map { Int($0) })
      return try expand(
        "constexpr_affine_dequantize",
        [
          ("quantized_data", try stored(whole(codes), type, shape, builder)),
          (
            "zero_point",
            MILValue(type, count == 1 ? [] : [count], .bytes(Bytes(count == 1 ? [zero[0]] : zero)))
          ),
          (
            "scale",
            count == 1
              ? MILValue(numbers: scales, [], self.type) : try stored(scales, [count], builder)
          ),
          ("axis", MILValue(ints: [axis], [])),
        ], builder, name)
    }
    try builder.requireTarget(.iOS18, "compressed weights of this kind")
    let blockShape = count > 1 ? blocks : [Int](repeating: 1, count: shape.count)
    let type: MILDataType = isSigned ? .int8 : bits <= 4 ? .uint4 : .uint8
    let bytes =
      type == .uint4 ? Self.packed(codes, bits: 4) : codes.map { UInt8(truncatingIfNeeded: $0) }
    return try expand(
      "constexpr_blockwise_shift_scale",
      [
        ("data", try stored(bytes, type, shape, builder)),
        ("scale", try stored(scales, blockShape, builder)),
        ("offset", try stored(offsets, blockShape, builder)),
      ], builder, name)
  }

  /// Whether half precision is enough for a scale and an offset.
  private static func isHalf(_ scale: Float, _ offset: Float) -> Bool {
    abs(Half.rounded(scale) - scale) <= 0x1p-9 * abs(scale) && Half.rounded(offset).isFinite
  }

  /// The block of an element, if there are `blocks` along each axis.
  private func block(of index: Int, _ blocks: [Int]) -> Int {
    var (rest, position, step) = (index, 0, 1)
    for axis in shape.indices.reversed() {
      position += rest % shape[axis] / (shape[axis] / blocks[axis]) * step
      rest /= shape[axis]
      step *= blocks[axis]
    }
    return position
  }

  /// The operation that expands the constant. In the older operation sets, its arguments are
  /// attributes.
  private func expand(
    _ operation: String, _ arguments: [(String, MILValue)], _ builder: ProgramBuilder,
    _ name: String
  ) throws -> Variable {
    let name = builder.uniqueName(name)
    let variable = Variable(name: name, type: type, shape: shape)
    var result = MILOperation(
      operation, name: name, outputs: [MILNamedType(name, MILValueType(variable))])
    for (key, value) in arguments {
      if builder.target >= .iOS18 {
        let constant = try builder.constant(value, name: "\(name)_\(key)")
        result.inputs.append(MILArgumentEntry(key, [.name(constant.name)]))
      } else {
        result.attributes.append(MILAttribute(key, value))
      }
    }
    try builder.append(result)
    return variable
  }

  // MARK: - Storage

  /// Codes, packed from the lowest bits of each byte up.
  private static func packed(_ codes: [Int], bits: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: (codes.count * bits + 7) / 8)
    for (index, code) in codes.enumerated() {
      let (byte, shift) = (index * bits / 8, index * bits % 8)
      let word = (code & ((1 << bits) - 1)) << shift
      bytes[byte] |= UInt8(truncatingIfNeeded: word)
      if shift + bits > 8 { bytes[byte + 1] |= UInt8(truncatingIfNeeded: word >> 8) }
    }
    return bytes
  }

  private func stored(
    _ bytes: [UInt8], _ type: MILDataType, _ shape: [Int], _ builder: ProgramBuilder
  ) throws -> MILValue {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    return try builder.stored(Bytes(bytes), type, shape, count: count)
  }

  private func stored(
    _ values: [Float], _ shape: [Int], _ builder: ProgramBuilder
  ) throws -> MILValue {
    let bytes = type == .float16 ? Half.bytes(values) : Bytes(values)
    return try builder.stored(bytes, type, shape, count: values.count)
  }

  private static func sizes(_ shape: [Int]) -> MILValue {
    MILValue(.uint32, [shape.count], .bytes(Bytes(shape.map { UInt32(truncatingIfNeeded: $0) })))
  }
}
