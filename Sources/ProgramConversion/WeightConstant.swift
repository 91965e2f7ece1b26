import CoreMLModel
import TensorCore

/// A weight of a layer as a constant of the program. Codes of few bits stay codes.
struct WeightConstant {
  var weights: Weights
  var shape: [Int]
  /// The axis along which quantization may vary.
  var channelAxis: Int
  /// The new order of the axes; nil keeps it.
  var axes: [Int]?
  /// The shape afterwards, with the elements in the same order.
  var newShape: [Int]?

  private var permutedShape: [Int] { axes.map { $0.map { shape[$0] } } ?? shape }
  private var finalShape: [Int] { newShape ?? permutedShape }
  /// The axis of the channels in the final shape.
  private var finalChannelAxis: Int {
    axes.map { $0.firstIndex(of: channelAxis) ?? 0 } ?? channelAxis
  }

  func variable(_ call: LayerCall, _ field: String) throws -> Variable {
    let storage = try weights.storage(shape, channelAxis: channelAxis)
    switch storage {
    case .single, .half: return try floats(call, field)
    case .table(let bits, let table):
      return try lookup(codes(bits: bits), bits: bits, table, call, field)
    case .linear(let bits, let isSigned, let scale, let bias, _):
      if newShape != nil && scale.count + bias.count > 2 { return try floats(call, field) }
      return try linear(
        codes(bits: bits, isSigned: isSigned), bits, isSigned, scale, bias, call, field)
    }
  }

  private func floats(_ call: LayerCall, _ field: String) throws -> Variable {
    var values = try weights.values(shape: shape, channelAxis: channelAxis)
    if let axes { values = values.transposed(axes) }
    return try call.builder.constant(
      values, finalShape, call.type, name: "\(call.name)_\(field)")
  }

  // MARK: - Codes

  /// The codes in the final order.
  private func codes(bits: Int, isSigned: Bool = false) throws -> [Int] {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    var codes = try [Float](zeros: count)
    if isSigned {
      weights.int8RawValue.withUnsafeBytes { bytes in
        for index in 0..<count { codes[index] = Float(Int8(bitPattern: bytes[index])) }
      }
    } else {
      weights.rawValue.withUnsafeBytes { bytes in
        let packed = PackedCodes(bytes, bits: bits)
        for index in 0..<count { codes[index] = Float(packed[index]) }
      }
    }
    guard let axes else { return codes.map { Int($0) } }
    return FloatValues(codes).shaped(shape).transposed(axes).array().map { Int($0) }
  }

  /// Codes one after the other, the lowest bits of a byte first.
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
    _ bytes: [UInt8], _ type: MILDataType, _ shape: [Int], _ call: LayerCall
  ) throws -> MILValue {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    return try call.builder.stored(Bytes(bytes), type, shape, count: count)
  }

  private func stored(_ values: [Float], _ shape: [Int], _ call: LayerCall) throws -> MILValue {
    let bytes = call.type == .float16 ? Bytes(values.map(Half.bits)) : Bytes(values)
    return try call.builder.stored(bytes, call.type, shape, count: values.count)
  }

  // MARK: - Operations

  private func lookup(
    _ codes: [Int], bits: Int, _ table: [Float], _ call: LayerCall, _ field: String
  ) throws -> Variable {
    // The operations take 1, 2, 3, 4, 6 and 8 bits; a longer code with the same table is the same.
    let allowed = [1, 2, 3, 4, 6, 8]
    guard let width = allowed.first(where: { $0 >= bits }) else { return try floats(call, field) }
    let entries = table + [Float](repeating: 0, count: (1 << width) - table.count)
    let rank = finalShape.count
    if call.target >= .iOS18 {
      guard let type = MILDataType.allCases.first(where: { $0.name == "uint\(width)" }) else {
        return try floats(call, field)
      }
      let tableShape = [Int](repeating: 1, count: rank) + [entries.count, 1]
      return try expand(
        "constexpr_lut_to_dense",
        [
          ("indices", try stored(Self.packed(codes, bits: width), type, finalShape, call)),
          ("lut", try stored(entries, tableShape, call)),
        ], asInputs: true, call, field)
    }
    try call.builder.requireTarget(.iOS16, "weights in few bits")
    let bytes = Self.packed(codes, bits: width)
    return try expand(
      "constexpr_lut_to_dense",
      [
        ("indices", try stored(bytes, .uint8, [bytes.count], call)),
        ("lut", try stored(entries, [entries.count], call)),
        ("shape", Self.sizes(finalShape)),
      ], asInputs: false, call, field)
  }

  /// w = scale · q + bias, as scale · (q − offset).
  private func linear(
    _ codes: [Int], _ bits: Int, _ isSigned: Bool, _ scale: [Float], _ bias: [Float],
    _ call: LayerCall, _ field: String
  ) throws -> Variable {
    let count = max(scale.count, bias.count)
    let scales = scale.count == count ? scale : [Float](repeating: scale[0], count: count)
    let biases = bias.count == count ? bias : [Float](repeating: bias[0], count: count)
    if call.target < .iOS18, count == 1, !isSigned, bits <= 8 {
      // A table has the values exactly.
      let table = (0..<1 << bits).map {
        Float(Double(scales[0]) * Double($0) + Double(biases[0]))
      }
      return try lookup(codes, bits: bits, table, call, field)
    }
    let offsets = zip(biases, scales).map { $1 == 0 ? 0 : -$0 / $1 }
    let range = isSigned ? Float(-128)...127 : 0...255
    let areWhole = offsets.allSatisfy { $0 == $0.rounded() && range.contains($0) }
    if call.target < .iOS18, areWhole {
      try call.builder.requireTarget(.iOS16, "weights in few bits")
      let type: MILDataType = isSigned ? .int8 : .uint8
      func whole(_ values: [Int]) -> [UInt8] { values.map { UInt8(truncatingIfNeeded: $0) } }
      let zero = whole(offsets.map { Int($0) })
      return try expand(
        "constexpr_affine_dequantize",
        [
          ("quantized_data", try stored(whole(codes), type, finalShape, call)),
          (
            "zero_point",
            MILValue(type, count == 1 ? [] : [count], .bytes(Bytes(count == 1 ? [zero[0]] : zero)))
          ),
          (
            "scale",
            count == 1
              ? MILValue(numbers: scales, [], call.type) : try stored(scales, [count], call)
          ),
          ("axis", MILValue(ints: [finalChannelAxis], [])),
        ], asInputs: false, call, field)
    }
    try call.builder.requireTarget(.iOS18, "these weights in few bits")
    var blockShape = [Int](repeating: 1, count: finalShape.count)
    if count > 1 { blockShape[finalChannelAxis] = count }
    let type: MILDataType = isSigned ? .int8 : bits == 4 ? .uint4 : .uint8
    let bytes =
      type == .uint4
      ? Self.packed(codes, bits: 4) : codes.map { UInt8(truncatingIfNeeded: $0) }
    return try expand(
      "constexpr_blockwise_shift_scale",
      [
        ("data", try stored(bytes, type, finalShape, call)),
        ("scale", try stored(scales, blockShape, call)),
        ("offset", try stored(offsets, blockShape, call)),
      ], asInputs: true, call, field)
  }

  private static func sizes(_ shape: [Int]) -> MILValue {
    MILValue(.uint32, [shape.count], .bytes(Bytes(shape.map { UInt32(truncatingIfNeeded: $0) })))
  }

  /// An operation that expands the weight. Its arguments are attributes in the older sets of
  /// operations.
  private func expand(
    _ operation: String, _ arguments: [(String, MILValue)], asInputs: Bool, _ call: LayerCall,
    _ field: String
  ) throws -> Variable {
    let builder = call.builder
    let name = builder.uniqueName("\(call.name)_\(field)")
    var result = MILOperation()
    result.type = operation
    result.attributes = [MILAttribute("name", MILValue(name))]
    for (key, value) in arguments {
      if asInputs {
        let constant = try builder.constant(value, name: "\(name)_\(key)")
        result.inputs.append(MILArgumentEntry(key, [.name(constant)]))
      } else {
        result.attributes.append(MILAttribute(key, value))
      }
    }
    let variable = Variable(name: name, type: call.type, shape: finalShape)
    result.outputs = [MILNamedType(name, MILValueType(variable))]
    try builder.append(result)
    return variable
  }
}
