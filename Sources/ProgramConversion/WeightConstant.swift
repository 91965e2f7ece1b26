import CoreMLModel
import TensorCore

/// A weight of a layer as a constant of the program. Compressed weights remain compressed.
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
    try ConstantExpression(shape: finalShape, storage: storage(), type: type)
      .variable(builder, name: name)
  }

  private func storage() throws -> ConstantExpression.Storage {
    switch try weights.storage(shape, channelAxis: channelAxis) {
    case .single, .half: return try values()
    case .table(let bits, let table):
      return .tables(codes: try codes(bits: bits), bits: bits, [table], axis: 0)
    case .linear(let bits, let isSigned, let scale, let bias, _):
      let count = max(scale.count, bias.count)
      if newShape != nil && count > 1 { return try values() }
      var blocks = [Int](repeating: 1, count: finalShape.count)
      if count > 1 { blocks[finalChannelAxis] = count }
      return .linear(
        codes: try codes(bits: bits, isSigned: isSigned), bits: bits, isSigned: isSigned,
        scale: scale, bias: bias, blocks: blocks)
    }
  }

  private func values() throws -> ConstantExpression.Storage {
    let values = try weights.values(shape: shape, channelAxis: channelAxis)
    return .values(axes.map { values.transposed($0) } ?? values)
  }

  /// The codes in the final order.
  private func codes(bits: Int, isSigned: Bool = false) throws -> [Int] {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let codes = weights.codes(bits: bits, count: count, isSigned: isSigned)
    guard let axes else { return codes }
    return FloatValues(codes.map { Float($0) }).shaped(shape).transposed(axes).array().map {
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
