import TensorCore

/// The wire format of protocol buffers; every length is checked.
package enum ProtobufWire {
  package static let varint: UInt8 = 0
  package static let fixed64: UInt8 = 1
  package static let delimited: UInt8 = 2
  package static let fixed32: UInt8 = 5

  /// A field as it is in the file.
  package struct Field {
    package let number: UInt32
    package let wireType: UInt8
    /// Key, length and value.
    package let range: Range<Int>
    /// The value; for a length-delimited field, without the length.
    package let value: Range<Int>
  }

  /// The field that starts at `position` and must end by `end`.
  package static func field(
    _ bytes: UnsafeRawBufferPointer, at position: Int, end: Int
  ) throws -> Field {
    var next = position
    let key = try varint(bytes, at: &next, end: end, longest: 5)
    let number = key >> 3
    guard number > 0, number < 1 << 29 else {
      throw malformed(position, "field number \(number) does not exist")
    }
    let wireType = UInt8(key & 7)
    let length: Int
    switch wireType {
    case varint:
      let begin = next
      _ = try varint(bytes, at: &next, end: end, longest: 10)
      return Field(
        number: UInt32(number), wireType: wireType, range: position..<next, value: begin..<next)
    case fixed64: length = 8
    case fixed32: length = 4
    case delimited:
      let declared = try varint(bytes, at: &next, end: end, longest: 5)
      guard declared <= UInt64(end - next) else {
        throw malformed(
          position, "field \(number) declares \(declared) bytes, but only \(end - next) remain")
      }
      length = Int(declared)
    default:
      throw malformed(position, "field \(number) has the wire type \(wireType)")
    }
    guard length <= end - next else {
      throw malformed(
        position, "field \(number) needs \(length) bytes, but only \(end - next) remain")
    }
    return Field(
      number: UInt32(number), wireType: wireType, range: position..<next + length,
      value: next..<next + length)
  }

  /// Reads the number at `position`, at most `longest` bytes long, and moves `position` past it.
  package static func varint(
    _ bytes: UnsafeRawBufferPointer, at position: inout Int, end: Int, longest: Int
  ) throws -> UInt64 {
    let begin = position
    var value: UInt64 = 0
    while position < end, position - begin < longest {
      let byte = bytes[position]
      value |= UInt64(byte & 0x7F) << UInt64(7 * (position - begin))
      position += 1
      if byte < 0x80 { return value }
    }
    throw malformed(
      begin, position - begin == longest ? "a number is too long" : "the data ends inside a number")
  }

  package static func append(varint value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package static func append(key number: UInt32, _ wireType: UInt8, to bytes: inout [UInt8]) {
    append(varint: UInt64(number) << 3 | UInt64(wireType), to: &bytes)
  }

  /// An error at a byte of the file.
  package static func malformed(_ position: Int, _ message: String) -> ModelError {
    ModelError(
      .malformed, "\(message) (at byte \(position))",
      hint: "the file is damaged, incomplete, or has another format")
  }
}
