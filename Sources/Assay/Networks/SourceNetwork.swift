import Interpretation

/// A network of one framework: the files that it is read from, its conversion, its interpreter, and the
/// script that records its predictions. `ModelSource` has a case for each framework.
package protocol SourceNetwork: Sendable {
  associatedtype Conversion: SourceConversion where Conversion.Source == Self
  /// Whether a file is such a network, with the file at `weights` as its second one.
  ///
  /// - Throws: if the file is none, but can be nothing else.
  static func detects(_ file: SourceFile, weights: String?) throws -> Bool
  /// The formats of files whose weights may be in a second file.
  static var architectures: [FileFormat] { get }
  /// Whether the second file contains the weights of the first, or vice versa.
  ///
  /// - Parameter besideModels: two files that are complete models are two models.
  static func areOne(_ first: SourceFile, _ second: SourceFile, besideModels: Bool) -> Bool
  /// Whether a file among models and inputs is a model, and not arrays.
  static func isModel(_ file: SourceFile) -> Bool
  static func read(_ path: String, weights: String?) throws -> ModelSource
  /// The file with the architecture.
  var path: String { get }
  var hasWeights: Bool { get }
  func convert(_ options: ConversionOptions) throws -> ConversionResult
  func interpreter(_ options: ConversionOptions) throws -> any SourceInterpreter
  /// - Throws: `.unsupported` if the framework has no suitable Python interface.
  func recordingFramework() throws -> RecordingFramework
}

extension SourceNetwork {
  package static func detects(_ file: SourceFile, weights: String?) throws -> Bool {
    architectures.contains(file.format)
  }

  /// What each layer becomes, past those that cannot be converted.
  func plan(_ options: ConversionOptions) throws -> [PlanEntry] {
    try Conversion.plan(self, options)
  }
}

/// A file that may be a network or its weights.
package struct SourceFile {
  package let path: String
  package let format: FileFormat
  let bytes: Bytes

  /// Whether a file that is missing, or none of weights, has the name of one. Reading it says so.
  var isMissingWeights: Bool {
    switch format {
    case .foreign, .empty:
      ["caffemodel", "weights", "h5", "hdf5", "keras"].contains(
        path.split(separator: ".").last?.lowercased() ?? "")
    default: false
    }
  }

  func has(_ character: Unicode.Scalar) -> Bool {
    bytes.withUnsafeBytes { $0.contains(UInt8(ascii: character)) }
  }
}
