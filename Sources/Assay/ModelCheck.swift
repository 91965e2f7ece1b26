import CoreMLModel
import ONNXExport
import TensorCore

/// The errors and warnings for a model.
public struct ModelCheck: Sendable {
  /// The reasons why Core ML would reject the model, in file order.
  public let errors: [ModelError]
  /// Parts that are legal, but probably mistakes.
  public let warnings: [ModelError]

  /// Reads the `.mlmodel` at `path`; a file of another format is one error.
  ///
  /// - Throws: `ModelError` if the file is missing or cannot be read.
  public init(contentsOf path: String) throws {
    try self.init(path) { try Model(uncheckedContentsOf: path) }
  }

  /// Checks the model that `read` returns; a file of another format is one error.
  package init(_ path: String, _ read: () throws -> Model) throws {
    do { self.init(try read()) } catch let error as ModelError
      where [.malformed, .unsupported, .limitExceeded].contains(error.code)
    {
      self.init(
        errors: error.all.map { error in
          var error = error
          if [path, "standard input"].contains(error.file) { error.file = nil }
          return error
        }, warnings: [])
    }
  }

  private init(errors: [ModelError], warnings: [ModelError]) {
    self.errors = errors
    self.warnings = warnings
  }

  /// Checks the structure of an ONNX model.
  package init(_ model: ONNXModel) { self.init(errors: model.findings, warnings: []) }

  /// Checks a document.
  public init(_ model: Model) {
    let (errors, warnings) = model.findings()
    // Warnings about layers with invalid parameters are meaningless.
    let wrong = Set(errors.compactMap(\.layer))
    self.init(
      errors: errors,
      warnings: warnings.filter { warning in
        warning.layer.map { !wrong.contains($0) } ?? true
      })
  }
}
