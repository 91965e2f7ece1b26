import CoreMLModel
import TensorCore

/// A weight of a layer as a constant of the program. Compressed weights stay compressed, and
/// half-precision matrices stay in half precision.
struct WeightConstant {
  var weights: Weights
  var shape: [Int]
  /// The axis along which quantization parameters may vary.
  var channelAxis: Int
  /// The new order of the axes; nil keeps it.
  var axes: [Int]?
  /// The final shape, with the elements in the same order.
  var newShape: [Int]?

  private var permutedShape: [Int] { axes.map { $0.map { shape[$0] } } ?? shape }
  private var finalShape: [Int] { newShape ?? permutedShape }
  /// The axis of the channels in the final shape.
  private var finalChannelAxis: Int {
    axes.map { $0.firstIndex(of: channelAxis) ?? 0 } ?? channelAxis
  }

  func variable(_ builder: ProgramBuilder, _ type: MILDataType, name: String) throws -> Variable {
    try ConstantExpression(shape: finalShape, storage: storage(builder, type), type: type)
      .variable(builder, name: name)
  }

  /// Matrices of the same shape, stacked vertically, in the storage that they share; nil if their
  /// storages differ or are single precision.
  ///
  /// - Parameter negated: the index of a weight to negate.
  static func stacked(
    _ parts: [Weights], _ shape: [Int], negated: Int?, _ type: MILDataType,
    _ builder: ProgramBuilder
  ) throws -> ConstantExpression? {
    var (all, tables, scales, biases): ([Int], [[Float]], [Float], [Float]) = ([], [], [], [])
    var form: (bits: Int, isSigned: Bool)?
    let rows = shape[0]
    for (position, part) in parts.enumerated() {
      let sign: Float = position == negated ? -1 : 1
      let own: (bits: Int, isSigned: Bool)
      switch try part.storage(shape) {
      case .single: return nil
      case .half: own = (16, false)
      case .table(let bits, let table):
        own = (bits, false)
        tables.append(table.map { sign * $0 })
      case .linear(let bits, let isSigned, let scale, let bias, _):
        own = (bits, isSigned)
        func byRow(_ values: [Float]) -> [Float] {
          values.count == rows
            ? values.map { sign * $0 } : [Float](repeating: sign * values[0], count: rows)
        }
        scales += byRow(scale)
        biases += byRow(bias)
      }
      if let form, form != own { return nil }
      form = own
    }
    guard let form else { return nil }
    let stack = [rows * parts.count] + shape.dropFirst()
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    if form.bits == 16 {
      guard try keepsHalf(stack, type, builder) else { return nil }
      let values = try parts.enumerated().flatMap { position, part in
        try part.values(shape: shape).array().map { position == negated ? -$0 : $0 }
      }
      return ConstantExpression(shape: stack, storage: .half(Half.bytes(values)), type: type)
    }
    guard tables.count == parts.count || scales.count == rows * parts.count else { return nil }
    for part in parts { all += part.codes(bits: form.bits, count: count, isSigned: form.isSigned) }
    let entries = parts.count << form.bits
    if !tables.isEmpty, builder.target < .iOS18, entries <= 256 {
      // Older systems allow one table per weight, so the tables of the parts are concatenated.
      let codes = all.enumerated().map { $1 + ($0 / count) << form.bits }
      let bits = Int.bitWidth - (entries - 1).leadingZeroBitCount
      return ConstantExpression(
        shape: stack,
        storage: .tables(.init(codes: codes, bits: bits, tables: [tables.flatMap { $0 }])),
        type: type)
    }
    if !tables.isEmpty {
      return ConstantExpression(
        shape: stack, storage: .tables(.init(codes: all, bits: form.bits, tables: tables)),
        type: type)
    }
    var blocks = [Int](repeating: 1, count: stack.count)
    blocks[0] = stack[0]
    return ConstantExpression(
      shape: stack,
      storage: .linear(
        .init(
          codes: all, bits: form.bits, isSigned: form.isSigned, scale: scales, bias: biases,
          blocks: blocks)), type: type)
  }

  private static func keepsHalf(
    _ shape: [Int], _ type: MILDataType, _ builder: ProgramBuilder
  ) throws -> Bool {
    try type == .float32 && shape.count > 1 && builder.hasTarget(.iOS16)
  }

  private func storage(
    _ builder: ProgramBuilder, _ type: MILDataType
  ) throws -> ConstantExpression.Storage {
    switch try weights.storage(shape, channelAxis: channelAxis) {
    case .single: return .values(try values())
    case .half:
      let values = try values()
      return try Self.keepsHalf(finalShape, type, builder)
        ? .half(Half.bytes(try values.array())) : .values(values)
    case .table(let bits, let table):
      return .tables(.init(codes: try codes(bits: bits), bits: bits, tables: [table]))
    case .linear(let bits, let isSigned, let scale, let bias, _):
      let count = max(scale.count, bias.count)
      if newShape != nil && count > 1 { return .values(try values()) }
      var blocks = [Int](repeating: 1, count: finalShape.count)
      if count > 1 { blocks[finalChannelAxis] = count }
      return .linear(
        .init(
          codes: try codes(bits: bits, isSigned: isSigned), bits: bits, isSigned: isSigned,
          scale: scale, bias: bias, blocks: blocks))
    }
  }

  private func values() throws -> FloatValues {
    let values = try weights.values(shape: shape, channelAxis: channelAxis)
    return axes.map { values.transposed($0) } ?? values
  }

  /// The codes in the final order.
  private func codes(bits: Int, isSigned: Bool = false) throws -> [Int] {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let codes = weights.codes(bits: bits, count: count, isSigned: isSigned)
    guard let axes else { return codes }
    return try FloatValues(codes.map { Float($0) }).shaped(shape).transposed(axes).array().map {
      Int($0)
    }
  }
}

extension Weights {
  /// The stored codes, or 8-bit integers.
  func codes(bits: Int, count: Int, isSigned: Bool = false) -> [Int] {
    if isSigned {
      return int8RawValue.withUnsafeBytes { bytes in
        (0..<count).map { Int(Int8(bitPattern: bytes[$0])) }
      }
    }
    return rawValue.withUnsafeBytes { bytes in
      let packed = PackedCodes(bytes, bits: bits)
      return (0..<count).map { packed[$0] }
    }
  }
}
