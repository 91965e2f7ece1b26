import TensorCore

/// The elements of a constant in a program; their number has been checked.
package struct MILElements: Sendable, Equatable {
  package let type: MILDataType
  package let shape: [Int]
  private let content: Content

  private enum Content: Equatable {
    case stored(MILTensorValue.Content)
    /// Codes in the format of a layer's weights.
    case codes(Weights)
  }

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
      content = .stored(.bytes(try file.elements(at: location.offset, type, count: count)))
    case .immediate(let immediate):
      guard case .tensor(let elements)? = immediate.content, let stored = elements.content else {
        throw ModelError(.malformed, "the constant has no elements")
      }
      content = .stored(stored)
      try require(
        try Self.count(stored, type, count) == count,
        "the number of elements differs from the \(count) of the constant's shape \(shape)")
    case nil: throw ModelError(.malformed, "the constant has no value")
    }
  }

  package init(_ values: [Float], _ shape: [Int], _ type: MILDataType) {
    self.shape = shape
    self.type = type
    content = .stored(.floats(FloatValues(values)))
  }

  package init(_ values: [Int], _ shape: [Int], _ type: MILDataType = .int32) {
    self.shape = shape
    self.type = type
    content = .stored(.ints(values))
  }

  /// Elements that a layer stores as codes. With one scale per row, the rows are along the first axis.
  package init(codes: Weights, _ shape: [Int], _ type: MILDataType) {
    self.shape = shape
    self.type = type
    content = .codes(codes)
  }

  /// Elements as bytes; their number must suit the shape.
  package init(_ bytes: Bytes, _ shape: [Int], _ type: MILDataType) {
    self.shape = shape
    self.type = type
    content = .stored(.bytes(bytes))
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

  package var strings: [String]? {
    if case .stored(.strings(let values)) = content { values } else { nil }
  }

  /// The elements as integers; a flag is 0 or 1.
  ///
  /// - Throws: if they are fractions or strings, or do not fit.
  package func ints() throws -> [Int] {
    switch content {
    case .stored(.ints(let values)), .stored(.longInts(let values)): return values
    case .stored(.bools(let values)): return values.map { $0 ? 1 : 0 }
    case .stored(.bytes(let bytes)) where !type.isFloat: return try integers(bytes) { $0 }
    case .stored(.strings): throw ModelError(.malformed, "strings where integers are needed")
    case .stored, .codes:
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
    case .codes(let weights): return try weights.values(shape: shape).array()
    case .stored(.floats(let values)): return try values.array()
    case .stored(.doubles(let values)): return values.map { Float($0) }
    case .stored(.strings): throw ModelError(.malformed, "strings where numbers are needed")
    case .stored(.bytes(let bytes)):
      switch type {
      case .float32: return bytes.array(of: Float.self)
      case .float64: return bytes.array(of: Double.self).map { Float($0) }
      case .float16: return bytes.array(of: UInt16.self).map { Half.float($0) }
      case .bfloat16:
        return bytes.array(of: UInt16.self).map { Float(bitPattern: UInt32($0) << 16) }
      case .float8E4M3FN, .float8E5M2:
        throw ModelError(.unsupported, "elements of type \(type.name) are not supported")
      default: return try integers(bytes) { Float($0) }
      }
    case .stored: return try ints().map { Float($0) }
    }
  }

  /// The elements as weights of a layer, without copying single and half precision.
  ///
  /// - Parameter scalesRows: whether the layer takes one scale per row, along the first axis.
  package func weights(scalesRows: Bool = false) throws -> Weights {
    switch content {
    case .codes(let weights) where scalesRows || !weights.hasScalePerChannel: return weights
    case .stored(.floats(let values)): return Weights(values)
    case .stored(.bytes(let bytes)) where type == .float16: return Weights(halves: bytes)
    case .stored(.bytes(let bytes)) where type == .float32:
      return Weights(FloatValues(bytes: bytes))
    case .codes where type == .float16: return Weights(halves: Half.bytes(try floats()))
    default: return Weights(try floats())
    }
  }

  /// Integers of 1 to 64 bits, converted; those of less than a byte are packed from the lowest bits
  /// up.
  private func integers<Number>(_ bytes: Bytes, _ convert: (Int) -> Number) throws -> [Number] {
    func whole<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type) -> [Number] {
      bytes.array(of: type).map { convert(Int(truncatingIfNeeded: $0)) }
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
    let codes = Self.unpacked(bytes, bits: bits, count: count)
    return codes.map { convert(type == .int4 && $0 >= 8 ? Int($0) - 16 : Int($0)) }
  }

  /// Codes of 1 to 8 bits, packed from the lowest bits of each byte up.
  package static func unpacked(_ bytes: Bytes, bits: Int, count: Int) -> [UInt8] {
    bytes.withUnsafeBytes { bytes in
      (0..<count).map { index in
        let (byte, shift) = (index * bits / 8, index * bits % 8)
        var word = Int(bytes[byte])
        if shift + bits > 8 { word |= Int(bytes[byte + 1]) << 8 }
        return UInt8(word >> shift & ((1 << bits) - 1))
      }
    }
  }

  /// The bytes of elements that are stored as bytes.
  package var bytes: Bytes? { if case .stored(.bytes(let bytes)) = content { bytes } else { nil } }
}
