/// What went wrong with an input, said once: the file, the layer, the field, what was found and
/// what would help.
///
/// Prints as `FILE: layer 'NAME' (CLASS): MESSAGE`. The command line adds `error: ` in front, the
/// hint on a line of its own, and exits with `code.exitCode`.
public struct ModelError: Error, Sendable, Equatable {
  /// A closed list of reasons; each is one broken promise.
  public enum Code: Sendable, CaseIterable {
    /// The bytes are not what their format promises.
    case malformed
    /// The file is sound, but holds something that is not supported.
    case unsupported
    /// The file declares more than the fixed limits allow.
    case limitExceeded
    /// The options do not fit the model: an unknown feature, an image for an array input.
    case mismatch
    /// Wrong usage that no file needs to be opened for.
    case usage
    /// A file does not exist or cannot be read.
    case missingFile
    /// A file or folder cannot be made.
    case cannotCreate
    /// A file cannot be written, or not to its end.
    case cannotWrite
    /// `--max-memory` or the machine's memory does not suffice.
    case outOfMemory
    /// A fault of this program.
    case `internal`

    /// The process's exit code, after `sysexits.h` where that has one.
    public var exitCode: Int32 {
      switch self {
      case .malformed, .unsupported, .limitExceeded, .mismatch: 2
      case .usage: 64
      case .missingFile: 66
      case .internal: 70
      case .cannotCreate: 73
      case .cannotWrite: 74
      case .outOfMemory: 75
      }
    }
  }

  /// The reason.
  public var code: Code
  /// The file in which it went wrong.
  public var file: String?
  /// The layer's name.
  public var layer: String?
  /// The layer's type in its framework.
  public var layerClass: String?
  /// The field, input or option.
  public var field: String?
  /// What was found.
  public var message: String
  /// What would help.
  public var hint: String?
  /// What else is wrong with the same file, each with its place.
  public var further: [ModelError] = []

  /// An error with what is known of its place.
  public init(
    _ code: Code, _ message: String, file: String? = nil, layer: String? = nil,
    layerClass: String? = nil, field: String? = nil, hint: String? = nil
  ) {
    self.code = code
    self.message = message
    self.file = file
    self.layer = layer
    self.layerClass = layerClass
    self.field = field
    self.hint = hint
  }

  /// Several errors as one, the first with the others after it; nil of none.
  package init?(_ errors: [ModelError]) {
    guard var first = errors.first else { return nil }
    first.further = Array(errors.dropFirst())
    self = first
  }

  /// The error and what else is wrong, each by itself.
  package var all: [ModelError] {
    var first = self
    first.further = []
    return [first] + further
  }

  /// The same error with a file name, unless it has one already.
  public func inFile(_ name: String) -> ModelError {
    var error = self
    error.file = file ?? name
    error.further = further.map { $0.inFile(name) }
    return error
  }

  /// The same error with a layer, unless it has one already.
  public func inLayer(_ name: String, class layerClass: String? = nil) -> ModelError {
    var error = self
    if layer == nil {
      error.layer = name
      error.layerClass = self.layerClass ?? layerClass
    }
    return error
  }
}

extension ModelError: CustomStringConvertible {
  /// `FILE: layer 'NAME' (CLASS): MESSAGE`, as far as each is known.
  public var description: String {
    var text = ""
    if let file { text += "\(file.escapingControls()): " }
    if let layer {
      text += "layer '\(layer.escapingControls())'"
      if let layerClass { text += " (\(layerClass.escapingControls()))" }
      text += ": "
    }
    if let field { text += "\(field.escapingControls()): " }
    return text + message
  }
}

/// Adds the file's name to every `ModelError` that `body` throws without one.
package func inFile<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as ModelError { throw error.inFile(name) }
}

/// Throws a `ModelError` of these arguments where the condition does not hold.
package func require(
  _ condition: Bool, _ code: ModelError.Code, _ message: @autoclosure () throws -> String,
  file: String? = nil, layer: String? = nil, layerClass: String? = nil, field: String? = nil,
  hint: @autoclosure () throws -> String? = nil
) throws {
  if condition { return }
  throw ModelError(
    code, try message(), file: file, layer: layer, layerClass: layerClass, field: field,
    hint: try hint())
}

/// Throws `.malformed` where the condition does not hold.
package func require(
  _ condition: Bool, _ message: @autoclosure () throws -> String, file: String? = nil,
  layer: String? = nil, layerClass: String? = nil, field: String? = nil,
  hint: @autoclosure () throws -> String? = nil
) throws {
  try require(
    condition, .malformed, try message(), file: file, layer: layer, layerClass: layerClass,
    field: field, hint: try hint())
}
