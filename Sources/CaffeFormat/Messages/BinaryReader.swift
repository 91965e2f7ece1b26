import ByteFormats

/// Reads a message in protobuf's binary format, guided by the schema. All lengths, the nesting and
/// the memory for the result are checked. Packed numbers are read in place; fields that the schema
/// lacks or declares differently are kept.
package struct BinaryReader {
  private let source: Bytes
  private var rest: Int

  /// The memory per value, in addition to the data it references.
  private static let valueByteCount = 192

  package init(_ source: Bytes) {
    self.source = source
    rest = 4 * source.count + (64 << 20)
  }

  /// The network in a `.caffemodel`, upgraded to the current version of the format.
  static func network(_ bytes: Bytes, notes: inout [String]) throws -> CaffeMessage {
    var reader = BinaryReader(bytes)
    var network = try reader.parse(.network)
    try NetworkUpgrade.apply(to: &network, notes: &notes)
    try require(
      network.has("layer"), "the file has no layers",
      hint: "it is not a .caffemodel, or it is damaged")
    return network
  }

  package mutating func parse(_ type: MessageType) throws -> CaffeMessage {
    // The walker needs the bytes as a buffer; `source` stays alive as long as `self`.
    var reader = self
    defer { self = reader }
    return try source.withUnsafeBytes { bytes in
      try reader.message(bytes, 0..<bytes.count, type, depth: Limits.protobufDepth)
    }
  }

  private mutating func spend(_ byteCount: Int) throws {
    rest -= byteCount
    try require(
      rest >= 0, .limitExceeded, "reading it would take memory out of proportion to its size",
      hint: "the file contains far more structure than a network needs")
  }

  private mutating func message(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ type: MessageType, depth: Int
  ) throws -> CaffeMessage {
    try require(
      depth > 0, .limitExceeded,
      "messages are nested more than \(Limits.protobufDepth) levels deep (at byte \(range.lowerBound))"
    )
    try spend(Self.valueByteCount)
    var message = CaffeMessage(type)
    // Unpacked numbers of a repeated field may be scattered over the message.
    var loose: [String: [UInt8]] = [:]
    var position = range.lowerBound
    while position < range.upperBound {
      let field = try ProtobufWire.field(bytes, at: position, end: range.upperBound)
      position = field.range.upperBound
      try spend(Self.valueByteCount)
      guard let known = type[field.number] else {
        message.add(unknown(bytes, field), to: "#\(field.number)")
        continue
      }
      do {
        if known.isRepeated, let width = known.kind.fixedWidth, field.wireType == width.wireType {
          loose[known.name, default: []] += bytes[field.value]
          continue
        }
        for value in try values(bytes, field, known, depth: depth) {
          message.add(value, to: known.name, type: known)
        }
      } catch let error as ModelError {
        // A fork may use the number for another message; the network itself must be intact.
        guard error.code == .malformed, type === MessageType.layer, field.number >= 100 else {
          throw error.inside(known.name)
        }
        message.add(unknown(bytes, field), to: "#\(field.number)")
      }
    }
    for (name, bytes) in loose.sorted(by: { $0.key < $1.key }) {
      guard let known = type[name] else { continue }
      let value = Bytes(bytes)
      if case .double = known.kind {
        message.add(.doubles(value), to: name, type: known)
      } else {
        message.add(.floats(value), to: name, type: known)
      }
    }
    return message
  }

  /// A field that the schema lacks, decoded by its wire type.
  private func unknown(_ bytes: UnsafeRawBufferPointer, _ field: ProtobufWire.Field) -> CaffeValue {
    switch field.wireType {
    case ProtobufWire.varint: .integer(Self.integer(bytes, field.value))
    case ProtobufWire.fixed32:
      .number(Double(bytes.loadUnaligned(fromByteOffset: field.value.lowerBound, as: Float.self)))
    case ProtobufWire.fixed64:
      .number(bytes.loadUnaligned(fromByteOffset: field.value.lowerBound, as: Double.self))
    default: .bytes(source[field.value])
    }
  }

  private mutating func values(
    _ bytes: UnsafeRawBufferPointer, _ field: ProtobufWire.Field, _ known: FieldType, depth: Int
  ) throws -> [CaffeValue] {
    func require(_ wireType: UInt8) throws {
      guard field.wireType == wireType else {
        throw ProtobufWire.malformed(
          field.range.lowerBound, "wire type \(field.wireType); expected \(wireType)")
      }
    }
    switch known.kind {
    case .message(let inner):
      try require(ProtobufWire.delimited)
      return [.message(try message(bytes, field.value, inner, depth: depth - 1))]
    case .string:
      try require(ProtobufWire.delimited)
      try spend(field.value.count)
      return [.string(String(decoding: bytes[field.value], as: UTF8.self))]
    case .bytes:
      try require(ProtobufWire.delimited)
      return [.bytes(source[field.value])]
    case .float, .double:
      let isDouble = if case .double = known.kind { true } else { false }
      let size = isDouble ? 8 : 4
      if known.isRepeated, field.wireType == ProtobufWire.delimited {
        guard field.value.count % size == 0 else {
          throw ProtobufWire.malformed(
            field.range.lowerBound,
            "\(field.value.count) bytes are not a multiple of the element size \(size)")
        }
        let payload = source[field.value]
        return [isDouble ? .doubles(payload) : .floats(payload)]
      }
      try require(isDouble ? ProtobufWire.fixed64 : ProtobufWire.fixed32)
      let start = field.value.lowerBound
      return [
        .number(
          isDouble
            ? bytes.loadUnaligned(fromByteOffset: start, as: Double.self)
            : Double(bytes.loadUnaligned(fromByteOffset: start, as: Float.self)))
      ]
    case .integer, .bool, .enumeration:
      guard known.isRepeated, field.wireType == ProtobufWire.delimited else {
        try require(ProtobufWire.varint)
        return [Self.value(Self.integer(bytes, field.value), known.kind)]
      }
      var values: [CaffeValue] = []
      var position = field.value.lowerBound
      while position < field.value.upperBound {
        let bits = try ProtobufWire.varint(
          bytes, at: &position, end: field.value.upperBound, longest: 10)
        try spend(Self.valueByteCount)
        values.append(Self.value(Int(truncatingIfNeeded: bits), known.kind))
      }
      return values
    }
  }

  /// Precondition: `range` contains a checked varint.
  private static func integer(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int {
    var value: UInt64 = 0
    for (index, byte) in bytes[range].enumerated() where index < 10 {
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
    }
    return Int(truncatingIfNeeded: value)
  }

  private static func value(_ integer: Int, _ kind: FieldType.Kind) -> CaffeValue {
    switch kind {
    case .bool: .bool(integer != 0)
    case .enumeration(let type):
      .symbol(type.value(integer) ?? "\(integer)", integer)
    default: .integer(integer)
    }
  }
}

extension FieldType.Kind {
  /// The wire type of an unpacked number.
  fileprivate var fixedWidth: (wireType: UInt8, byteCount: Int)? {
    switch self {
    case .float: (ProtobufWire.fixed32, 4)
    case .double: (ProtobufWire.fixed64, 8)
    default: nil
    }
  }
}
