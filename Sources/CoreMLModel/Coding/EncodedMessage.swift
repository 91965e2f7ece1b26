/// A message of the specification as a Swift value, with the table that reads and writes its
/// fields.
///
/// Properties have the names and raw values of the file: zero or empty means "not written".
/// Computed properties next to them return effective values, with the specification's defaults.
package protocol EncodedMessage: Sendable, Equatable {
  init()
  /// Every field that Assay reads. Fields missing from the table are carried through.
  static var fields: [Field<Self>] { get }
  /// Passes every weight, with the path of its field, to `body`, except weights in activations.
  mutating func editWeights(_ path: String, _ body: (String, inout Weights) throws -> Void) throws
}

/// A message that keeps the fields missing from its table; other messages leave them to their
/// parent.
package protocol SpecificationMessage: EncodedMessage {
  /// Fields missing from the schema, kept as they were read.
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

  /// The message with one field changed.
  package func with<Value>(_ field: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
    var result = self
    result[keyPath: field] = value
    return result
  }

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

  /// Adds missing required weights with empty values.
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
