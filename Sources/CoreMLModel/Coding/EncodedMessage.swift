/// A specification message with the table that reads and writes it.
protocol EncodedMessage: SpecificationMessage {
  /// Every field that this program reads. What the table leaves out is carried through.
  static var fields: [Field<Self>] { get }
}

extension EncodedMessage {
  init(_ reader: MessageReader) throws {
    self.init()
    for field in Self.fields { try field.read(&self, reader) }
    unknownFields.fields = reader.leftovers
  }

  func write(_ writer: MessageWriter) throws {
    for field in Self.fields { try field.write(self, writer) }
    try writer.finish()
  }

  static var readNames: Set<String> { Set(fields.flatMap(\.names)) }

  static var readTypes: [String: any EncodedMessage.Type] {
    fields.reduce(into: [:]) { $0.merge($1.types) { first, _ in first } }
  }
}
