import TensorCore

/// A layer of a source, as errors name it.
package protocol LayerErrors {
  var name: String { get }
  var layerClass: String { get }
  /// The message with the layer's position in the source, if that has positions.
  func located(_ message: String) -> String
}

extension LayerErrors {
  package func located(_ message: String) -> String { message }

  package func error(
    _ message: String, code: ModelError.Code = .malformed, field: String? = nil,
    hint: String? = nil
  ) -> ModelError {
    ModelError(
      code, located(message), layer: name, layerClass: layerClass, field: field, hint: hint)
  }

  package func unsupported(
    _ message: String, field: String? = nil, hint: String? = nil
  ) -> ModelError { error(message, code: .unsupported, field: field, hint: hint) }

  /// - Throws: `.malformed`, or `code`, unless the condition holds.
  package func require(
    _ condition: Bool, _ message: @autoclosure () throws -> String,
    code: ModelError.Code = .malformed, field: String? = nil, hint: String? = nil
  ) throws {
    if !condition { throw error(try message(), code: code, field: field, hint: hint) }
  }

  package func require(
    _ condition: Bool, unsupported message: @autoclosure () throws -> String,
    field: String? = nil, hint: String? = nil
  ) throws {
    if !condition { throw unsupported(try message(), field: field, hint: hint) }
  }
}
