import TensorCore

/// A message that is carried through without being read: the number of its field in the message
/// around it, and its encoding.
public struct OpaqueMessage: Sendable, Equatable {
  public var field: UInt32
  /// The field's name in the specification, where the schema has it.
  public var name: String?
  public var payload: Bytes

  public init(field: UInt32, name: String?, payload: Bytes) {
    self.field = field
    self.name = name
    self.payload = payload
  }
}
