import TensorCore

extension Model {
  /// Reads an `.mlmodel`. Large weights stay in the mapped file.
  /// - Throws: `ModelError` that names the file, the layer and the field.
  public init(contentsOf path: String) throws {
    throw ModelError(.unsupported, "reading is not there yet", file: path)
  }

  /// Writes an `.mlmodel`, atomically and with the same bytes for the same model.
  public func write(to path: String) throws {
    throw ModelError(.unsupported, "writing is not there yet", file: path)
  }
}
