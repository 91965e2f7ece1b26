/// An error in an input: the file, the layer, the field, what was found, and a remedy.
///
/// Prints as `FILE: layer 'NAME' (CLASS): MESSAGE`. The command line adds `error: ` in front,
/// prints the hint on a separate line, and exits with `code.exitCode`.
public struct ModelError: Error, Sendable, Equatable {
  /// The reason for an error.
  public enum Code: Sendable, CaseIterable {
    /// The bytes violate their format.
    case malformed
    /// The file is valid but contains something that is not supported.
    case unsupported
    /// The file declares more than the fixed limits allow.
    case limitExceeded
    /// The options do not fit the model: for example, an unknown feature, or an image for an array.
    case mismatch
    /// Wrong usage, detected without opening a file.
    case usage
    /// A file does not exist or cannot be read.
    case missingFile
    /// A file or folder cannot be created.
    case cannotCreate
    /// A file cannot be written completely.
    case cannotWrite
    /// `--max-memory` or the machine's memory is not enough.
    case outOfMemory
    /// `--timeout` is not enough.
    case timedOut
    /// A bug in this program.
    case `internal`

    /// The process's exit code, from `sysexits.h` if it has a suitable one.
    public var exitCode: Int32 {
      switch self {
      case .malformed, .unsupported, .limitExceeded, .mismatch: 2
      case .usage: 64
      case .missingFile: 66
      case .internal: 70
      case .cannotCreate: 73
      case .cannotWrite: 74
      case .outOfMemory, .timedOut: 75
      }
    }
  }

  /// The reason.
  public var code: Code
  /// The file with the error.
  public var file: String?
  /// The layer's name.
  public var layer: String?
  /// The layer's type in its framework.
  public var layerClass: String?
  /// The field, input or option.
  public var field: String?
  /// What was found.
  public var message: String
  /// The remedy.
  public var hint: String?
  /// More errors in the same file, each with its location.
  public var further: [ModelError] = []

  /// Creates an error with what is known about its location.
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

  /// Combines several errors into one: the first, with the others in `further`. Returns nil if
  /// there are none.
  package init?(_ errors: [ModelError]) {
    guard var first = errors.first else { return nil }
    first.further = Array(errors.dropFirst())
    self = first
  }

  /// The error for a name that none of the model's inputs or outputs (`kind`) has.
  package static func unknown(
    _ kind: String, _ name: String, _ purpose: String = "", among names: [String]
  ) -> ModelError {
    ModelError(
      .mismatch, "the model has no \(kind) '\(name)'\(purpose)",
      hint: "its \(kind)s are \(names.joined(separator: ", "))")
  }

  /// This error and the further ones, separately.
  package var all: [ModelError] {
    var first = self
    first.further = []
    return [first] + further
  }

  /// The same error with a file name, unless it already has one.
  public func inFile(_ name: String) -> ModelError {
    var error = self
    error.file = file ?? name
    error.further = further.map { $0.inFile(name) }
    return error
  }

  /// The same error with a layer, unless it already has one.
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
  /// `FILE: layer 'NAME' (CLASS): MESSAGE`, with the known parts. The last part is the subject of a
  /// message that starts with `is`.
  public var description: String {
    let layerText = layer.map {
      "layer '\($0.escapingControls())'" + (layerClass.map { " (\($0.escapingControls()))" } ?? "")
    }
    let fileText = file.map { $0.isEmpty ? "''" : $0.escapingControls() }
    let subject = [fileText, layerText, field?.escapingControls()]
      .compactMap { $0 }.joined(separator: ": ")
    return subject.isEmpty ? message : subject + (message.hasPrefix("is ") ? " " : ": ") + message
  }
}

extension ModelError {
  /// A line of a report: an error or a hint, on one line unless it is a list.
  package struct Line {
    /// `error` or `hint`.
    package let label: String
    package let text: String
  }

  /// This error and the further ones as the command prints them, with control characters made
  /// visible.
  package var lines: [Line] {
    all.flatMap { error in
      // Each item of a list has an indented line, so a name cannot forge a line of another kind.
      let items = error.description.split(separator: "\n ", omittingEmptySubsequences: false)
        .map { String($0).escapingControls() }
      let hints = error.hint?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
      return [Line(label: "error", text: items.joined(separator: "\n "))]
        + hints.map { Line(label: "hint", text: String($0).escapingControls()) }
    }
  }
}

/// Adds the file's name to every `ModelError` from `body` that lacks one.
package func inFile<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as ModelError { throw error.inFile(name) }
}

/// Throws a `ModelError` with these arguments if the condition is false.
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

/// Throws `.malformed` if the condition is false.
package func require(
  _ condition: Bool, _ message: @autoclosure () throws -> String, file: String? = nil,
  layer: String? = nil, layerClass: String? = nil, field: String? = nil,
  hint: @autoclosure () throws -> String? = nil
) throws {
  try require(
    condition, .malformed, try message(), file: file, layer: layer, layerClass: layerClass,
    field: field, hint: try hint())
}

extension Optional {
  /// The value; throws `error` if it is nil.
  package func orThrow(_ error: @autoclosure () throws -> any Error) throws -> Wrapped {
    guard let self else { throw try error() }
    return self
  }
}
