import TensorCore

/// A message that is carried through unread: the number of its field in the enclosing message, and
/// its encoding.
public struct OpaqueMessage: Sendable, Equatable {
  package var field: UInt32
  /// The field's name in the specification, if the schema has it.
  package var name: String?
  package var payload: Bytes

  package init(field: UInt32, name: String?, payload: Bytes) {
    (self.field, self.name, self.payload) = (field, name, payload)
  }
}
