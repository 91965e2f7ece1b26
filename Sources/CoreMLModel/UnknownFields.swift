import TensorCore

/// Fields that a schema does not know, in wire form, in file order.
public struct UnknownFields: Sendable, Equatable {
  public struct Field: Sendable, Equatable {
    public var number: UInt32
    /// 0 varint, 1 64-bit, 2 length-delimited (payload without its length), 5 32-bit.
    public var wireType: UInt8
    public var payload: Bytes

    public init(number: UInt32, wireType: UInt8, payload: Bytes) {
      self.number = number
      self.wireType = wireType
      self.payload = payload
    }
  }

  public var fields: [Field] = []

  public init() {}
}
