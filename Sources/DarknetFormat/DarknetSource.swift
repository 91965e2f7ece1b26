import ByteFormats
import Files

/// A network in Darknet's files.
public struct DarknetSource: Sendable {
  package let path: String
  package let configuration: ConfigurationFile
  package let weights: WeightsFile?
  /// The whole weights file, in case its header is ambiguous.
  package let weightBytes: Bytes?
  /// The class hierarchies that sections name.
  package let trees: [String: Result<ClassTree, any Error>]

  package var hasWeights: Bool { weights != nil }
}

extension DarknetSource {
  /// Reads a `.cfg`.
  ///
  /// - Parameter weights: the `.weights` file, if there is one.
  /// - Throws: `ModelError` with the file and the line.
  package static func load(_ path: String, weights: String? = nil) throws -> DarknetSource {
    let configuration = try inFile(path) {
      try ConfigurationFile(try MappedFile.read(path))
    }
    var trees: [String: Result<ClassTree, any Error>] = [:]
    for section in configuration.sections where ["softmax", "soft"].contains(section.kind) {
      guard let name = section.string("tree"), trees[name] == nil else { continue }
      trees[name] = Result { try ClassTree.read(name, for: path) }
    }
    let bytes = try weights.map { path in
      let (bytes, format) = try FileFormat.read(path)
      switch format {
      case .darknetWeights, .unknown, .coreML, .caffeBinary: return bytes
      default: throw format.error(expected: "a Darknet weights file").inFile(path)
      }
    }
    return DarknetSource(
      path: path, configuration: configuration,
      weights: try weights.flatMap { path in
        try bytes.map { try WeightsFile($0, path: path) }
      }, weightBytes: bytes, trees: trees)
  }
}
