import TensorCore

/// Fields that a schema does not know, in wire form, in file order.
package struct UnknownFields: Sendable, Equatable {
  /// A way down into a message that has no Swift value of its own: its field, and its place among
  /// those of a repeated one.
  package struct Step: Sendable, Equatable {
    package var field: UInt32
    package var index: Int

    package init(field: UInt32, index: Int) {
      self.field = field
      self.index = index
    }
  }

  package struct Field: Sendable, Equatable {
    package var number: UInt32
    /// 0 varint, 1 64-bit, 2 length-delimited (payload without its length), 5 32-bit.
    package var wireType: UInt8
    package var payload: Bytes
    /// Where the field stands below the message that keeps it; empty if in that itself.
    package var path: [Step]

    package init(number: UInt32, wireType: UInt8, payload: Bytes, path: [Step] = []) {
      self.number = number
      self.wireType = wireType
      self.payload = payload
      self.path = path
    }
  }

  package var fields: [Field] = []

  package init() {}
}
