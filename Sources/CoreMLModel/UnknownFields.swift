import ByteFormats
import TensorCore

/// Fields missing from the schema, in wire format and file order.
package struct UnknownFields: Sendable, Equatable {
  /// A step down into a message without a Swift value: its field, and its index in a repeated
  /// field.
  package struct Step: Sendable, Equatable {
    package var field: UInt32
    package var index: Int

    package init(field: UInt32, index: Int) { (self.field, self.index) = (field, index) }
  }

  package struct Field: Sendable, Equatable {
    package var number: UInt32
    /// 0 varint, 1 64-bit, 2 length-delimited (payload without its length), 5 32-bit.
    package var wireType: UInt8
    package var payload: Bytes
    /// The path of the field below the message that keeps it; empty for that message itself.
    package var path: [Step]

    package init(number: UInt32, wireType: UInt8, payload: Bytes, path: [Step] = []) {
      (self.number, self.wireType, self.payload, self.path) = (number, wireType, payload, path)
    }
  }

  package var fields: [Field] = []
  /// Such fields in the whole document, as it was read; only a document's own message has them.
  package var positions: [ProtobufSkeleton.UnknownField] = []

  package init() {}

  package static func == (a: UnknownFields, b: UnknownFields) -> Bool { a.fields == b.fields }
}
