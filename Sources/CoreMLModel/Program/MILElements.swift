import SizeArithmetic
import TensorCore

/// The elements of a constant in a program; their number has been checked.
package struct MILElements: Sendable, Equatable {
  package let type: MILDataType
  package let shape: [Int]
  private let content: MILTensorValue.Content

  package var count: Int { shape.reduce(1, *) }

  /// - Throws: `.malformed` if the value is not a tensor of its type.
  package init(_ value: MILValue, files: [String: MILWeightFile]) throws {
    guard case .tensor(let tensor)? = value.type?.kind, let shape = tensor.shape else {
      throw ModelError(.malformed, "the constant is not a tensor of known size")
    }
    try require(
      shape.count == tensor.rank && shape.count <= Limits.rank,
      "the constant has \(shape.count) sizes and rank \(tensor.rank)")
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    self.shape = shape
    type = tensor.dataType
    switch value.content {
    case .file(let location):
      guard let file = files[location.fileName] else {
        throw ModelError(
          .malformed, "the weight file '\(location.fileName)' is missing",
          hint: "open the .mlpackage, which contains the weight files")
      }
      content = .bytes(try file.elements(at: location.offset, type, count: count))
    case .immediate(let immediate):
      guard case .tensor(let elements)? = immediate.content, let stored = elements.content else {
        throw ModelError(.malformed, "the constant has no elements")
      }
      content = stored
      try require(
        try Self.count(stored, type, count) == count,
        "the number of elements differs from the \(count) of the constant's shape \(shape)")
    case nil: throw ModelError(.malformed, "the constant has no value")
    }
  }

  package init(_ values: [Float], _ shape: [Int], _ type: MILDataType) {
    self.shape = shape
    self.type = type
    content = .floats(FloatValues(values))
  }

  package init(_ values: [Int], _ shape: [Int], _ type: MILDataType = .int32) {
    self.shape = shape
    self.type = type
    content = .ints(values)
  }

  private static func count(
    _ content: MILTensorValue.Content, _ type: MILDataType, _ expected: Int
  ) throws -> Int {
    let name: String
    let isSuitable: Bool
    let count: Int
    switch content {
    case .floats(let values): (name, isSuitable, count) = ("floats", type == .float32, values.count)
    case .doubles(let values):
      (name, isSuitable, count) = ("doubles", type == .float64, values.count)
    case .ints(let values), .longInts(let values):
      (name, isSuitable, count) = ("integers", !type.isFloat && type != .string, values.count)
    case .bools(let values): (name, isSuitable, count) = ("flags", type == .bool, values.count)
    case .strings(let values): (name, isSuitable, count) = ("texts", type == .string, values.count)
    case .bytes(let bytes):
      return try bytes.count == type.byteCount(expected) ? expected : -1
    }
    try require(isSuitable, "the constant of type \(type.name) has elements of type \(name)")
    return count
  }

  /// The first string, if the elements are strings.
  package var string: String? { strings?.first }

  package var strings: [String]? { if case .strings(let values) = content { values } else { nil } }

  /// The elements as integers; a flag is 0 or 1.
  ///
  /// - Throws: if they are fractions or strings, or do not fit.
  package func ints() throws -> [Int] {
    switch content {
    case .ints(let values), .longInts(let values): return values
    case .bools(let values): return values.map { $0 ? 1 : 0 }
    case .bytes(let bytes) where !type.isFloat: return try codes(bytes)
    case .strings: throw ModelError(.malformed, "strings where integers are needed")
    case .floats, .doubles, .bytes:
      return try floats().map { value in
        guard let exact = Int(exactly: value) else {
          throw ModelError(.malformed, "\(value) where an integer is needed")
        }
        return exact
      }
    }
  }

  /// The elements as single-precision numbers.
  package func floats() throws -> [Float] {
    switch content {
    case .floats(let values): return try values.array()
    case .doubles(let values): return values.map { Float($0) }
    case .strings: throw ModelError(.malformed, "strings where numbers are needed")
    case .bytes(let bytes):
      switch type {
      case .float32: return bytes.array(of: Float.self)
      case .float64: return bytes.array(of: Double.self).map { Float($0) }
      case .float16: return bytes.array(of: UInt16.self).map { Half.float($0) }
      case .bfloat16:
        return bytes.array(of: UInt16.self).map { Float(bitPattern: UInt32($0) << 16) }
      case .float8E4M3FN, .float8E5M2:
        throw ModelError(.unsupported, "elements of type \(type.name) are not supported")
      default: return try codes(bytes).map { Float($0) }
      }
    default: return try ints().map { Float($0) }
    }
  }

  /// The elements as weights of a layer, without copying single and half precision.
  package func weights() throws -> Weights {
    var weights = Weights()
    switch content {
    case .floats(let values): weights.floatValue = values
    case .bytes(let bytes) where type == .float16: weights.float16Value = bytes
    case .bytes(let bytes) where type == .float32: weights.floatValue = FloatValues(bytes: bytes)
    default: weights.floatValue = FloatValues(try floats())
    }
    return weights
  }

  /// Integers of 1 to 64 bits; those of less than a byte are packed from the lowest bits up.
  private func codes(_ bytes: Bytes) throws -> [Int] {
    func whole<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type) -> [Int] {
      bytes.array(of: type).map { Int(truncatingIfNeeded: $0) }
    }
    switch type {
    case .int8: return whole(Int8.self)
    case .uint8, .bool: return whole(UInt8.self)
    case .int16: return whole(Int16.self)
    case .uint16: return whole(UInt16.self)
    case .int32: return whole(Int32.self)
    case .uint32: return whole(UInt32.self)
    case .int64, .uint64: return whole(Int64.self)
    default: break
    }
    guard let bits = type.bitWidth, bits < 8 else {
      throw ModelError(.malformed, "elements of type \(type.name) are not integers")
    }
    return Self.unpacked(bytes, bits: bits, count: count, isSigned: type == .int4)
  }

  /// Codes of 1 to 8 bits, packed from the lowest bits of each byte up.
  package static func unpacked(
    _ bytes: Bytes, bits: Int, count: Int, isSigned: Bool = false
  ) -> [Int] {
    bytes.withUnsafeBytes { bytes in
      (0..<count).map { index in
        let (byte, shift) = (index * bits / 8, index * bits % 8)
        var word = Int(bytes[byte])
        if shift + bits > 8 { word |= Int(bytes[byte + 1]) << 8 }
        let code = word >> shift & ((1 << bits) - 1)
        return isSigned && code >= 1 << (bits - 1) ? code - (1 << bits) : code
      }
    }
  }

  /// The bytes of elements that are stored as bytes.
  package var bytes: Bytes? { if case .bytes(let bytes) = content { bytes } else { nil } }
}
