import CaffeImport
import CaffeInterpretation
import Interpretation

extension CaffeSource: SourceNetwork {
  package typealias Conversion = CaffeConversion
  package static var architectures: [FileFormat] { [.prototxt, .caffeBinary] }

  package static func detects(_ file: SourceFile, weights: String?) throws -> Bool {
    switch file.format {
    case .caffeBinary: return true
    case .prototxt:
      if looksLikePrototxt(file) { return true }
      throw FileFormat.text.error(expected: "a Keras, Caffe, Darknet or Core ML network")
        .inFile(file.path)
    case .hdf5: return try weights.map(isNetwork) ?? false
    default: return false
    }
  }

  /// Whether the file beside an HDF5 file is a network of Caffe.
  ///
  /// - Throws: if it is another text.
  private static func isNetwork(_ path: String) throws -> Bool {
    let (bytes, format) = try FileFormat.read(path)
    if format == .caffeBinary
      || format == .prototxt
        && looksLikePrototxt(SourceFile(path: path, format: format, bytes: bytes))
    {
      return true
    }
    guard format != .prototxt, format != .text else {
      throw FileFormat.text.error(expected: "weights or a network").inFile(path)
    }
    return false
  }

  /// Whether a text starts with a field, as protobuf's do, or its name says so.
  private static func looksLikePrototxt(_ file: SourceFile) -> Bool {
    if file.path.lowercased().hasSuffix(".prototxt") { return true }
    let text = file.bytes.withUnsafeBytes { String(decoding: $0.prefix(1 << 16), as: UTF8.self) }
    let words = text.split(whereSeparator: \.isNewline)
      .map { $0.drop { $0.isWhitespace || $0 == "\u{FEFF}" } }
      .filter { !$0.hasPrefix("#") }.joined(separator: "\n")
    let rest = words.drop { $0.isLetter || $0.isNumber || $0 == "_" }.drop(while: \.isWhitespace)
    return rest.isEmpty || [":", "{", "<", "#"].contains(rest.first)
  }

  package static func areOne(
    _ first: SourceFile, _ second: SourceFile, besideModels: Bool
  ) -> Bool {
    switch (first.format, second.format) {
    case (.prototxt, .caffeBinary), (.caffeBinary, .prototxt), (.prototxt, .hdf5),
      (.hdf5, .prototxt):
      true
    case (.prototxt, _): second.isMissingWeights
    default: false
    }
  }

  /// A table with words on its first line starts like Caffe's text.
  package static func isModel(_ file: SourceFile) -> Bool {
    file.format == .caffeBinary || file.format == .prototxt && file.has("{")
  }

  package static func read(_ path: String, weights: String?) throws -> ModelSource {
    .caffe(try load(path, weights: weights))
  }

  package func convert(_ options: ConversionOptions) throws -> ConversionResult {
    try CaffeImporter.convert(self, options: options)
  }

  package func interpreter(_ options: ConversionOptions) throws -> any SourceInterpreter {
    var state = CaffeState()
    state.phase = options.networkState.phase.rawValue.uppercased()
    state.level = options.networkState.level ?? 0
    state.stages = options.networkState.stages
    return try CaffeInterpreter(self, state: state)
  }

  package func recordingFramework() -> RecordingFramework { .caffe }
}
