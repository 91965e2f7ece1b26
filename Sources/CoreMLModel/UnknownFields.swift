import TensorCore

/// Fields that a schema does not know, in wire form, in file order.
public struct UnknownFields: Sendable, Equatable {
  /// A way down into a message that has no Swift value of its own: its field, and its place among
  /// those of a repeated one.
  public struct Step: Sendable, Equatable {
    public var field: UInt32
    public var index: Int

    public init(field: UInt32, index: Int) {
      self.field = field
      self.index = index
    }
  }

  public struct Field: Sendable, Equatable {
    public var number: UInt32
    /// 0 varint, 1 64-bit, 2 length-delimited (payload without its length), 5 32-bit.
    public var wireType: UInt8
    public var payload: Bytes
    /// Where the field stands below the message that keeps it; empty where in that itself.
    public var path: [Step]

    public init(number: UInt32, wireType: UInt8, payload: Bytes, path: [Step] = []) {
      self.number = number
      self.wireType = wireType
      self.payload = payload
      self.path = path
    }
  }

  public var fields: [Field] = []

  public init() {}
}
