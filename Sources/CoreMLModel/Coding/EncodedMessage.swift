/// Fields of the specification as a Swift value, with the table that reads and writes them.
///
/// Properties carry the names and the raw values of the file: zero or empty means "not written".
/// Effective values, with the specification's defaults, are computed properties beside them.
package protocol EncodedMessage: Sendable, Equatable {
  init()
  /// Every field that this program reads. What the table leaves out is carried through.
  static var fields: [Field<Self>] { get }
  /// Hands every weight, with the path of its field, to `body`; those in activations excepted.
  mutating func editWeights(
    _ path: String, _ body: (String, inout Weights) throws -> Void) throws
}

/// A message that keeps what its table leaves out; others leave that to the message around them.
package protocol SpecificationMessage: EncodedMessage {
  /// Fields that this program's schema does not know, kept as they were read.
  var unknownFields: UnknownFields { get set }
}

extension SpecificationMessage {
  init(_ reader: MessageReader) throws {
    try self.init(fieldsOf: reader)
    unknownFields.fields = reader.leftovers
  }
}

extension EncodedMessage {
  package typealias Fields = [Field<Self>]

  init(fieldsOf reader: MessageReader) throws {
    self.init()
    for field in Self.fields { try field.read(&self, reader) }
  }

  func write(_ writer: MessageWriter) throws {
    for field in Self.fields { try field.write(self, writer) }
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
