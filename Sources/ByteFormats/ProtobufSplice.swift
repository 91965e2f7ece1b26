import TensorCore

/// An encoding that combines a packed skeleton with the payloads that replace its placeholders.
///
/// Fields are written in order of their numbers, unknown ones last, as in the reference
/// implementations.
package struct ProtobufSplice {
  package enum Content: Sendable {
    case bytes(Bytes)
    /// Packed 32-bit floats, in reading order.
    case floats(FloatValues)

    var byteCount: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .floats(let values): values.count * 4
      }
    }
  }

  package struct Payload: Sendable {
    let number: UInt32
    let wireType: UInt8
    let content: Content

    package init(number: UInt32, wireType: UInt8, content: Content) {
      self.number = number
      self.wireType = wireType
      self.content = content
    }
  }

  private enum Piece {
    case skeleton(Range<Int>)
    case header([UInt8])
    case payload(Int)
  }

  private let skeleton: [UInt8]
  private let payloads: [Payload]
  private var pieces: [Piece] = []
  /// The size of the whole encoding.
  package private(set) var byteCount = 0

  package init(skeleton: [UInt8], payloads: [Payload], schema: ProtobufSchema) throws {
    self.skeleton = skeleton
    self.payloads = payloads
    let result = try skeleton.withUnsafeBytes { bytes in
      try message(bytes, 0..<bytes.count, schema)
    }
    pieces = result.pieces
    byteCount = result.byteCount
  }

  /// Passes the encoding to `send` in order, in pieces.
  package func forEachPiece(_ send: (UnsafeRawBufferPointer) throws -> Void) throws {
    var buffer: AlignedBuffer?
    for piece in pieces {
      switch piece {
      case .skeleton(let range):
        try skeleton.withUnsafeBytes { try send(UnsafeRawBufferPointer(rebasing: $0[range])) }
      case .header(let bytes):
        try bytes.withUnsafeBytes(send)
      case .payload(let index):
        switch payloads[index].content {
        case .bytes(let bytes): try bytes.withUnsafeBytes(send)
        case .floats(let values):
          if let bytes = values.contiguousBytes {
            try bytes.withUnsafeBytes(send)
          } else {
            try Self.send(values, through: &buffer, send)
          }
        }
      }
    }
  }

  private static let blockElementCount = 4 << 20

  private static func send(
    _ values: FloatValues, through buffer: inout AlignedBuffer?,
    _ send: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let block = try buffer ?? AlignedBuffer(checkedByteCount: blockElementCount * 4)
    buffer = block
    let target = block.pointer.bindMemory(to: Float.self, capacity: blockElementCount)
    try withExtendedLifetime(block) {
      for begin in stride(from: 0, to: values.count, by: blockElementCount) {
        let end = min(begin + blockElementCount, values.count)
        values.copy(begin..<end, to: target)
        try send(UnsafeRawBufferPointer(start: target, count: (end - begin) * 4))
      }
    }
  }

  private struct Part {
    var order: (isUnknown: Int, number: UInt32)
    var pieces: [Piece]
    var byteCount: Int
  }

  private func message(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ schema: ProtobufSchema
  ) throws -> (pieces: [Piece], byteCount: Int) {
    var parts: [Part] = []
    var position = range.lowerBound
    while position < range.upperBound {
      let field = try ProtobufWire.field(bytes, at: position, end: range.upperBound)
      position = field.range.upperBound
      parts.append(try part(bytes, field, schema))
    }
    let isOrdered = zip(parts, parts.dropFirst()).allSatisfy { $0.order <= $1.order }
    if !isOrdered {
      // Stable: fields with the same number keep their order.
      parts = parts.enumerated().sorted {
        ($0.element.order.isUnknown, $0.element.order.number, $0.offset)
          < ($1.element.order.isUnknown, $1.element.order.number, $1.offset)
      }.map(\.element)
    }
    var pieces: [Piece] = []
    var byteCount = 0
    for part in parts {
      byteCount += part.byteCount
      for piece in part.pieces {
        if case .skeleton(let next) = piece, case .skeleton(let last)? = pieces.last,
          last.upperBound == next.lowerBound
        {
          pieces[pieces.count - 1] = .skeleton(last.lowerBound..<next.upperBound)
        } else {
          pieces.append(piece)
        }
      }
    }
    return (pieces, byteCount)
  }

  private func part(
    _ bytes: UnsafeRawBufferPointer, _ field: ProtobufWire.Field, _ schema: ProtobufSchema
  ) throws -> Part {
    if field.number == ProtobufSkeleton.placeholder {
      var position = field.value.lowerBound
      let index = Int(
        try ProtobufWire.varint(bytes, at: &position, end: field.value.upperBound, longest: 10))
      let payload = payloads[index]
      var header: [UInt8] = []
      ProtobufWire.append(key: payload.number, payload.wireType, to: &header)
      let length = payload.content.byteCount
      if payload.wireType == ProtobufWire.delimited {
        ProtobufWire.append(varint: UInt64(length), to: &header)
      }
      let isUnknown = schema.index(of: payload.number) == nil
      return Part(
        order: (isUnknown ? 1 : 0, payload.number), pieces: [.header(header), .payload(index)],
        byteCount: header.count + length)
    }
    let whole = Part(
      order: (schema.index(of: field.number) == nil ? 1 : 0, field.number),
      pieces: [.skeleton(field.range)], byteCount: field.range.count)
    guard let index = schema.index(of: field.number),
      case .message(let inner) = schema.fields[index].kind
    else { return whole }
    let content = try message(bytes, field.value, inner)
    switch content.pieces.first {
    case nil: return whole
    case .skeleton(field.value)? where content.pieces.count == 1: return whole
    default: break
    }
    var header: [UInt8] = []
    ProtobufWire.append(key: field.number, ProtobufWire.delimited, to: &header)
    ProtobufWire.append(varint: UInt64(content.byteCount), to: &header)
    return Part(
      order: (0, field.number), pieces: [.header(header)] + content.pieces,
      byteCount: header.count + content.byteCount)
  }
}
