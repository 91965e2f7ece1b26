import TensorCore
import Testing

@testable import ByteFormats

struct ProtobufSkeletonTests {
  /// message Node { uint32 a = 1; repeated float f = 2 [packed]; bytes b = 3; repeated Node n = 4;
  /// string s = 5; fixed64 d = 6; oneof { uint32 x = 7; uint32 y = 8; } bytes carried = 9; }
  static let schema = ProtobufSchema(name: "Node", structByteCount: 100) { nodeFields() }

  private static func nodeFields() -> [ProtobufSchema.Field] {
    func field(
      _ number: UInt32, _ name: String, _ kind: ProtobufSchema.Kind, isRepeated: Bool = false,
      choice: Int? = nil, isCarried: Bool = false
    ) -> ProtobufSchema.Field {
      ProtobufSchema.Field(
        number: number, name: name, kind: kind, isRepeated: isRepeated, choice: choice,
        isCarried: isCarried)
    }
    return [
      field(1, "a", .varint), field(2, "f", .fixed32, isRepeated: true), field(3, "b", .bytes),
      field(4, "n", .message(schema), isRepeated: true), field(5, "s", .string),
      field(6, "d", .fixed64), field(7, "x", .varint, choice: 1),
      field(8, "y", .varint, choice: 1), field(9, "carried", .bytes, isCarried: true),
    ]
  }

  private func skeleton(_ bytes: [UInt8], budget: Int = 1 << 20) throws -> ProtobufSkeleton {
    try ProtobufSkeleton(of: Bytes(bytes), schema: Self.schema, budget: budget)
  }

  private func delimited(_ number: UInt32, _ content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    ProtobufWire.append(key: number, 2, to: &bytes)
    ProtobufWire.append(varint: UInt64(content.count), to: &bytes)
    return bytes + content
  }

  /// A payload in a nested message is removed, and later restored.
  @Test func payloadsLeaveAndComeBack() throws {
    let floats = (0..<1000).flatMap { index in
      withUnsafeBytes(of: Float(index)) { Array($0) }
    }
    let inner = [0x08, 5] + delimited(2, floats) + delimited(5, Array("text".utf8))
    let message =
      [0x08, 7] + delimited(4, inner) + delimited(4, [0x08, 6]) + delimited(9, [1, 2, 3])
      + delimited(77, [UInt8](repeating: 3, count: 2000))
    let skeleton = try skeleton(message)
    #expect(skeleton.bytes.count < 100)
    #expect(skeleton.payloads.map(\.number) == [2, 9, 77])
    #expect(skeleton.payloads.map(\.bytes.count) == [4000, 3, 2000])
    let splice = try ProtobufSplice(
      skeleton: skeleton.bytes,
      payloads: skeleton.payloads.map {
        ProtobufSplice.Payload(
          number: $0.number, wireType: $0.wireType,
          content: $0.number == 2 ? .floats(FloatValues(bytes: $0.bytes)) : .bytes($0.bytes))
      }, schema: Self.schema)
    var result: [UInt8] = []
    try splice.forEachPiece { result += $0 }
    #expect(splice.byteCount == result.count)
    // The skeleton's lengths take five bytes; those of messages without payloads keep their size.
    let again = try self.skeleton(result)
    #expect(again.bytes == skeleton.bytes)
    #expect(again.payloads.map(\.bytes) == skeleton.payloads.map(\.bytes))
  }

  @Test func refusesBrokenEncodings() {
    let broken: [([UInt8], String)] = [
      ([0x08], "inside a number"), ([0x08, 0x80], "inside a number"),
      ([0x08] + [UInt8](repeating: 0x80, count: 10), "too long"),
      ([0x80, 0x80, 0x80, 0x80, 0x80, 0x01], "too long"),
      ([0x12, 5, 0], "declares 5 bytes, but only 1 remain"), ([0x31, 0, 0], "needs 8 bytes"),
      ([0x00, 1], "field number 0"), ([0x0B], "wire type 3"), ([0x0C], "wire type 4"),
      ([0x0E], "wire type 6"), ([0x0D, 0, 0, 0, 0], "wire type 5; expected 0"),
      ([0x20, 1], "wire type 0; expected 2"), ([0x12, 3, 0, 0, 0], "not a whole number"),
      ([0x2A, 1, 0], "zero byte"), ([0x38, 1, 0x40, 1], "more than one value for a choice"),
      ([0x1A, 0, 0x1A, 0], "more than once"), ([0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0], "reserved"),
    ]
    for (bytes, text) in broken {
      let error = #expect(throws: ModelError.self) { try skeleton(bytes) }
      #expect(error?.message.contains(text) ?? false, "\(bytes): \(error?.message ?? "")")
    }
  }

  /// Pieces of a packed field must contain whole values; otherwise they are rejected, never
  /// dropped.
  @Test func payloadsInPieces() throws {
    let large = delimited(2, [UInt8](repeating: 1, count: 2048))
    let small = delimited(2, [UInt8](repeating: 2, count: 8))
    #expect(throws: ModelError.self) { try skeleton(large + small) }
    #expect(throws: ModelError.self) { try skeleton(small + large) }
    #expect(throws: Never.self) { try skeleton(small + small) }
    // Unpacked values of a repeated field are as valid as packed ones.
    #expect(throws: Never.self) { try skeleton([0x15, 0, 0, 0, 0, 0x15, 0, 0, 0, 0]) }
  }

  @Test func depthAndMemoryHaveBounds() {
    var nested: [UInt8] = []
    for _ in 0..<Limits.protobufDepth { nested = delimited(4, nested) }
    let deep = #expect(throws: ModelError.self) { try skeleton(nested) }
    #expect(deep?.code == .limitExceeded)
    let wide = [[UInt8]](repeating: [0x22, 0], count: 10_000).flatMap { $0 }
    let costly = #expect(throws: ModelError.self) { try skeleton(wide) }
    #expect(costly?.code == .limitExceeded)
    #expect(throws: Never.self) { try skeleton(wide, budget: 10 << 20) }
  }

  @Test func errorsNameThePath() {
    let error = #expect(throws: ModelError.self) {
      try skeleton(delimited(4, delimited(4, [0x12, 9])))
    }
    #expect(error?.field == "n.n")
    #expect(error?.message.contains("byte 4") ?? false)
  }
}
