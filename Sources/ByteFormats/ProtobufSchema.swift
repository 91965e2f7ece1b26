import Synchronization

/// What `ProtobufSkeleton` needs to know about a message type.
package final class ProtobufSchema: Sendable {
  package enum Kind: Sendable {
    case varint
    case fixed32
    case fixed64
    case string
    case bytes
    case message(ProtobufSchema)
  }

  package struct Field: Sendable {
    package let number: UInt32
    package let name: String
    package let kind: Kind
    package let isRepeated: Bool
    /// Equal for the members of one choice (`oneof`).
    package let choice: Int?
    /// Whether the field is only copied, never read: skeletons leave it out, whatever its size.
    package let isCarried: Bool

    package init(
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

  package let name: String
  /// Bytes that one unpacked message takes, without what it points to.
  package let structByteCount: Int
  private let makeFields: @Sendable () -> [Field]
  private let definition = Mutex<Definition?>(nil)

  private struct Definition {
    let fields: [Field]
    let indices: [UInt32: Int]
  }

  /// - Parameter fields: called on first use, since messages may contain themselves and most types
  ///   do not occur in a given file.
  package init(name: String, structByteCount: Int, fields: @escaping @Sendable () -> [Field]) {
    self.name = name
    self.structByteCount = structByteCount
    makeFields = fields
  }

  package var fields: [Field] { defined.fields }

  package func index(of number: UInt32) -> Int? { defined.indices[number] }

  private var defined: Definition {
    definition.withLock { definition in
      if let definition { return definition }
      let fields = makeFields()
      let made = Definition(
        fields: fields,
        indices: Dictionary(uniqueKeysWithValues: fields.indices.map { (fields[$0].number, $0) }))
      definition = made
      return made
    }
  }
}
