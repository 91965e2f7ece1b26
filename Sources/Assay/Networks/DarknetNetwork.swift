import DarknetImport
import DarknetInterpretation
import Interpretation

extension DarknetSource: SourceNetwork {
  package typealias Conversion = DarknetConversion
  package static var architectures: [FileFormat] { [.darknet] }

  package static func areOne(
    _ first: SourceFile, _ second: SourceFile, besideModels: Bool
  ) -> Bool {
    first.format == .darknet
      && ([.darknetWeights, .unknown].contains(second.format) || second.isMissingWeights)
  }

  /// `[NaN]` starts like Darknet's text.
  package static func isModel(_ file: SourceFile) -> Bool {
    file.format == .darknet && file.has("=")
  }

  package static func read(_ path: String, weights: String?) throws -> ModelSource {
    .darknet(try load(path, weights: weights))
  }

  package func convert(_ options: ConversionOptions) throws -> ConversionResult {
    try DarknetImporter.convert(self, options: options)
  }

  package func interpreter(_ options: ConversionOptions) throws -> any SourceInterpreter {
    try DarknetInterpreter(self)
  }

  package func recordingFramework() throws -> RecordingFramework {
    throw ModelError(
      .unsupported, "the Python interface of Darknet does not expose what its layers compute",
      hint:
        "write the arrays from C, and compare them with \(setting: "expected") and \(setting: "layers")"
    )
  }
}
