import Interpretation
import KerasImport
import KerasInterpretation

extension KerasSource: SourceNetwork {
  package typealias Conversion = KerasConversion
  package static var architectures: [FileFormat] { [.json, .hdf5, .zip] }

  package static func detects(_ file: SourceFile, weights: String?) throws -> Bool {
    if case .unknown = file.format, [".keras", ".h5", ".hdf5"].contains(where: file.path.hasSuffix)
    {
      throw ModelError(
        .malformed, "is neither a Keras archive nor an HDF5 file", file: file.path,
        hint: "the file is damaged, incomplete, or has another format")
    }
    return architectures.contains(file.format)
  }

  package static func areOne(
    _ first: SourceFile, _ second: SourceFile, besideModels: Bool
  ) -> Bool {
    switch (first.format, second.format) {
    case (.json, .hdf5): hasArchitecture(first.path)
    case (.json, .zip): hasArchitecture(second.path)
    case (.json, _): second.isMissingWeights && hasArchitecture(first.path)
    case (.hdf5, .hdf5), (.zip, .hdf5):
      !besideModels || hasArchitecture(first.path) && !hasArchitecture(second.path)
    case (.hdf5, .zip), (.zip, .zip): !besideModels && hasArchitecture(second.path)
    default: false
    }
  }

  package static func isModel(_ file: SourceFile) -> Bool {
    architectures.contains(file.format) && hasArchitecture(file.path)
  }

  package static func read(_ path: String, weights: String?) throws -> ModelSource {
    .keras(try load(path, weights: weights))
  }

  package func convert(_ options: ConversionOptions) throws -> ConversionResult {
    try KerasImporter.convert(self, options: options)
  }

  package func interpreter(_ options: ConversionOptions) throws -> any SourceInterpreter {
    try KerasInterpreter(path, weights: weightsPath)
  }

  package func recordingFramework() -> RecordingFramework { majorVersion == 1 ? .keras1 : .keras }
}
