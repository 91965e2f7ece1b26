import LibC
import TensorCore

/// A message that has been checked, without its large payloads.
///
/// Every length, wire type, nesting and the memory needed for unpacking are verified before
/// anything is unpacked. Packed floats and byte strings of at least `payloadByteCount` bytes stay
/// in the file, and so does every field that is never read. Each is replaced by a field
/// `placeholder` whose value is an index into `payloads`.
package struct ProtobufSkeleton {
  package struct Payload: Sendable {
    package let number: UInt32
    package let wireType: UInt8
    package let bytes: Bytes
  }

  /// A field missing from the schema: the path of fields to its message, with the indices in
  /// repeated ones, and its number.
  package struct UnknownField: Sendable, Equatable {
    package struct Step: Sendable, Equatable {
      package var name: String
      package var index: Int?
    }

    package var path: [Step]
    package var number: UInt32
  }

  /// A field number that no specification uses. A file that uses it is rejected.
  package static let placeholder: UInt32 = (1 << 29) - 1
  package static let payloadByteCount = 1024

  package private(set) var bytes: [UInt8] = []
  package private(set) var payloads: [Payload] = []
  /// The first fields missing from the schema, each listed once per message.
  package private(set) var unknownFields: [UnknownField] = []
  package static let unknownFieldLimit = 100
  /// An upper bound on the memory that the unpacked message takes.
  package private(set) var estimatedByteCount = 0

  /// - Parameter budget: the largest `estimatedByteCount` to accept.
  /// - Throws: `.malformed`, `.limitExceeded`, with the path of the field and the byte.
  package init(
    of source: Bytes, schema: ProtobufSchema, budget: Int, depth: Int = Limits.protobufDepth
  ) throws {
    try source.withUnsafeBytes { input in
      var walker = Walker(source: source, input: input, budget: budget)
      try walker.message(0..<input.count, schema, depth: depth)
      bytes = walker.output
      payloads = walker.payloads
      estimatedByteCount = walker.estimate
      unknownFields = walker.unknownFields
    }
  }
}

private struct Walker {
  let source: Bytes
  let input: UnsafeRawBufferPointer
  let budget: Int
  var output: [UInt8] = []
  var payloads: [ProtobufSkeleton.Payload] = []
  var estimate = 0
  var unknownFields: [ProtobufSkeleton.UnknownField] = []
  var path: [ProtobufSkeleton.UnknownField.Step] = []

  /// Memory that the unpacker and the Swift value need for a field, besides its contents.
  private static let fieldByteCount = 64
  private static let lengthByteCount = 5

  /// The fields and choices of a message that have occurred.
  private struct Seen {
    var fields: Set<Int> = []
    var choices: Set<Int> = []
    var leftOut: Set<Int> = []
    /// The number of messages in each repeated field.
    var counts: [Int: Int] = [:]
  }

  mutating func message(_ range: Range<Int>, _ schema: ProtobufSchema, depth: Int) throws {
    try require(
      depth > 0, .limitExceeded,
      "messages are nested more than \(Limits.protobufDepth) levels deep (at byte \(range.lowerBound))"
    )
    try spend(3 * schema.structByteCount + Self.fieldByteCount)
    var seen = Seen()
    var position = range.lowerBound
    // Start of what has been checked but not copied yet.
    var pending = position
    while position < range.upperBound {
      let field = try ProtobufWire.field(input, at: position, end: range.upperBound)
      position = field.range.upperBound
      try spend(Self.fieldByteCount)
      guard field.number != ProtobufSkeleton.placeholder else {
        throw ProtobufWire.malformed(
          field.range.lowerBound, "\(schema.name) uses the reserved field \(field.number)")
      }
      guard let index = schema.index(of: field.number) else {
        note(field.number)
        if field.value.count >= ProtobufSkeleton.payloadByteCount {
          copy(&pending, upTo: field)
          leaveOut(field)
        } else {
          try spend(2 * field.value.count)
        }
        continue
      }
      let known = schema.fields[index]
      do {
        try checkWireType(field, known)
        try checkOccurrence(field, known, index, &seen)
        if known.isCarried {
          copy(&pending, upTo: field)
          leaveOut(field)
          continue
        }
        switch known.kind {
        case .message(let inner):
          copy(&pending, upTo: field)
          pending = position
          let place = known.isRepeated ? seen.counts[index, default: 0] : nil
          seen.counts[index] = place.map { $0 + 1 }
          path.append(.init(name: known.name, index: place))
          try nested(field, inner, depth: depth)
          path.removeLast()
        case .fixed32 where field.wireType == ProtobufWire.delimited:
          guard field.value.count >= ProtobufSkeleton.payloadByteCount else {
            try spend(2 * field.value.count)
            continue
          }
          seen.leftOut.insert(index)
          copy(&pending, upTo: field)
          leaveOut(field)
        case .bytes:
          guard field.value.count >= ProtobufSkeleton.payloadByteCount else {
            try spend(2 * field.value.count)
            continue
          }
          copy(&pending, upTo: field)
          leaveOut(field)
        case .string:
          guard memchr(input.baseAddress! + field.value.lowerBound, 0, field.value.count) == nil
          else { throw ProtobufWire.malformed(field.value.lowerBound, "a string has a zero byte") }
          try spend(3 * field.value.count)
        case .varint where field.wireType == ProtobufWire.delimited:
          try spend(16 * packedCount(field))
        default:
          try spend(2 * field.value.count)
        }
      } catch let error as ModelError {
        throw error.inside(known.name)
      }
    }
    appendInput(pending..<range.upperBound)
  }

  private mutating func note(_ number: UInt32) {
    let field = ProtobufSkeleton.UnknownField(path: path, number: number)
    guard unknownFields.count < ProtobufSkeleton.unknownFieldLimit, unknownFields.last != field
    else { return }
    unknownFields.append(field)
  }

  private mutating func spend(_ byteCount: Int) throws {
    estimate += byteCount
    try require(
      estimate <= budget, .limitExceeded,
      "unpacking would take more than \(budget) bytes of memory",
      hint: "the file contains far more structure than a network needs")
  }

  private func checkWireType(_ field: ProtobufWire.Field, _ known: ProtobufSchema.Field) throws {
    let expected: UInt8
    var elementByteCount: Int?
    switch known.kind {
    case .varint: expected = ProtobufWire.varint
    case .fixed32: (expected, elementByteCount) = (ProtobufWire.fixed32, 4)
    case .fixed64: (expected, elementByteCount) = (ProtobufWire.fixed64, 8)
    case .string, .bytes, .message: expected = ProtobufWire.delimited
    }
    if field.wireType == expected { return }
    guard known.isRepeated, field.wireType == ProtobufWire.delimited else {
      throw ProtobufWire.malformed(
        field.range.lowerBound, "wire type \(field.wireType); expected \(expected)")
    }
    if let elementByteCount, field.value.count % elementByteCount != 0 {
      throw ProtobufWire.malformed(
        field.range.lowerBound,
        "\(field.value.count) bytes are not a whole number of \(elementByteCount)-byte elements")
    }
  }

  /// Rejects whatever would need merging: pieces of a message, of bytes or of a payload that is
  /// left out, and two members of a choice. No writer produces them.
  private func checkOccurrence(
    _ field: ProtobufWire.Field, _ known: ProtobufSchema.Field, _ index: Int, _ seen: inout Seen
  ) throws {
    if let choice = known.choice, !seen.choices.insert(choice).inserted {
      throw ProtobufWire.malformed(field.range.lowerBound, "more than one value for a choice")
    }
    if seen.fields.insert(index).inserted { return }
    let isWhole: Bool
    switch known.kind {
    case .message, .string, .bytes: isWhole = !known.isRepeated
    case .fixed32:
      isWhole =
        seen.leftOut.contains(index)
        || known.isRepeated && field.value.count >= ProtobufSkeleton.payloadByteCount
    default: isWhole = false
    }
    if isWhole {
      throw ProtobufWire.malformed(field.range.lowerBound, "the field occurs more than once")
    }
  }

  private mutating func nested(
    _ field: ProtobufWire.Field, _ schema: ProtobufSchema, depth: Int
  ) throws {
    ProtobufWire.append(key: field.number, ProtobufWire.delimited, to: &output)
    let lengthPosition = output.count
    for _ in 0..<Self.lengthByteCount { output.append(0) }
    try message(field.value, schema, depth: depth - 1)
    // The length always takes five bytes, so nothing has to move.
    var length = output.count - lengthPosition - Self.lengthByteCount
    for index in 0..<Self.lengthByteCount {
      let isLast = index == Self.lengthByteCount - 1
      output[lengthPosition + index] = UInt8(length & 0x7F) | (isLast ? 0 : 0x80)
      length >>= 7
    }
  }

  private mutating func copy(_ pending: inout Int, upTo field: ProtobufWire.Field) {
    appendInput(pending..<field.range.lowerBound)
    pending = field.range.upperBound
  }

  private mutating func appendInput(_ range: Range<Int>) {
    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[range]))
  }

  private mutating func leaveOut(_ field: ProtobufWire.Field) {
    ProtobufWire.append(key: ProtobufSkeleton.placeholder, ProtobufWire.varint, to: &output)
    ProtobufWire.append(varint: UInt64(payloads.count), to: &output)
    payloads.append(
      ProtobufSkeleton.Payload(
        number: field.number, wireType: field.wireType, bytes: source[field.value]))
  }

  private func packedCount(_ field: ProtobufWire.Field) throws -> Int {
    var position = field.value.lowerBound
    var count = 0
    while position < field.value.upperBound {
      _ = try ProtobufWire.varint(input, at: &position, end: field.value.upperBound, longest: 10)
      count += 1
    }
    return count
  }
}

extension ModelError {
  /// The same error with its field path prefixed by the outer message, unless it names a layer.
  package func inside(_ name: String) -> ModelError {
    if layer != nil { return self }
    var error = self
    error.field = field.map { "\(name).\($0)" } ?? name
    return error
  }
}
