/// A specification message with the table that reads and writes it.
package protocol EncodedMessage: SpecificationMessage {
  /// Every field that this program reads. What the table leaves out is carried through.
  static var fields: [Field<Self>] { get }
  /// Hands every weight, with the path of its field, to `body`; those in activations excepted.
  mutating func editWeights(
    _ path: String, _ body: (String, inout Weights) throws -> Void) throws
}

extension EncodedMessage {
  package typealias Fields = [Field<Self>]

  init(_ reader: MessageReader) throws {
    self.init()
    for field in Self.fields { try field.read(&self, reader) }
    unknownFields.fields = reader.leftovers
  }

  func write(_ writer: MessageWriter) throws {
    for field in Self.fields { try field.write(self, writer) }
    try writer.finish()
  }

  package mutating func editWeights(
    _ path: String, _ body: (String, inout Weights) throws -> Void
  ) throws {
    for field in Self.fields { try field.editWeights?(&self, path, body) }
  }

  /// Adds weights that must be there and are not, as empty ones.
  mutating func addEmptyWeights() {
    for weight in Self.fields.compactMap(\.weight)
    where weight.isNeeded(self) && self[keyPath: weight.path] == nil {
      self[keyPath: weight.path] = Weights()
    }
  }

  static var readNames: Set<String> { Set(fields.flatMap(\.names)) }

  static var readTypes: [String: any EncodedMessage.Type] {
    fields.reduce(into: [:]) { $0.merge($1.types) { first, _ in first } }
  }
}
