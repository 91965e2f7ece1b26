/// What a wire walker has to know of a message type.
public final class ProtobufSchema: @unchecked Sendable {
  // `@unchecked`: `define` runs once, before the schema is shared.

  public enum Kind {
    case varint
    case fixed32
    case fixed64
    case string
    case bytes
    case message(ProtobufSchema)
  }

  public struct Field {
    public let number: UInt32
    public let name: String
    public let kind: Kind
    public let isRepeated: Bool
    /// Equal for the members of one choice ("oneof").
    public let choice: Int?
    /// Nobody reads it: it is left out of skeletons, whatever its size.
    public let isCarried: Bool

    public init(
      number: UInt32, name: String, kind: Kind, isRepeated: Bool, choice: Int?, isCarried: Bool
    ) {
      self.number = number
      self.name = name
      self.kind = kind
      self.isRepeated = isRepeated
      self.choice = choice
      self.isCarried = isCarried
    }
  }

  public let name: String
  /// Bytes that one unpacked message takes, without what it points to.
  public let structByteCount: Int
  public private(set) var fields: [Field] = []
  private var indices: [UInt32: Int] = [:]

  public init(name: String, structByteCount: Int) {
    self.name = name
    self.structByteCount = structByteCount
  }

  /// Sets the fields; apart from `init` because messages may contain themselves.
  public func define(_ fields: [Field]) {
    self.fields = fields
    indices = Dictionary(
      uniqueKeysWithValues: fields.indices.map { (fields[$0].number, $0) })
  }

  public func index(of number: UInt32) -> Int? { indices[number] }
}
