import ByteFormats
import HDF5Reader
import TensorCore

/// A Keras model that has been read: its architecture, and where its weights are.
public struct KerasSource: Sendable {
  package let path: String
  let version: KerasVersion
  /// Whether the model comes with weights.
  package var hasWeights: Bool { weights != nil }
  /// 1, 2 or 3: the version of Keras that wrote it, guessed where the file does not say.
  package var majorVersion: Int { version.isKeras1 ? 1 : version.isAtLeast(3, 0) ? 3 : 2 }
  /// The same in full where the file says it.
  package var versionText: String { version.isKnown ? version.text : String(majorVersion) }
  let definition: ModelDefinition
  let weights: (any KerasWeights)?
  /// The weights file, if it differs from the architecture file.
  package let weightsPath: String?
  /// Loss and optimizer, if the model was saved with them.
  let training: JSONValue?
}

extension KerasSource {
  init(
    path: String, version: KerasVersion, configuration: JSONValue, weights: (any KerasWeights)?,
    weightsPath: String? = nil, training: JSONValue? = nil
  ) throws {
    self.path = path
    self.weightsPath = weightsPath
    self.training = training
    self.version = version
    self.weights = weights
    var parser = ModelDefinitionParser(version: version)
    definition = try parser.model(PythonValues.plain(configuration))
  }
}

extension KerasImporter {
  /// Whether the file says how a network is built, whatever else it holds.
  package static func hasArchitecture(_ path: String) -> Bool {
    guard let configuration = try? KerasFile(path, access: .isolated).configuration else {
      return false
    }
    return configuration["class_name"] != nil || configuration["config"] != nil
  }

  /// Reads a whole model, from HDF5 or a `.keras` archive; an architecture JSON file with a file of
  /// weights; or the architecture of one file with the weights of another.
  ///
  /// - Throws: `ModelError` with the file and the layer.
  package static func load(
    _ path: String, weights weightsPath: String? = nil, access: HDF5Access = .isolated
  ) throws -> KerasSource {
    try inFile(path) {
      let file = try KerasFile(path, access: access)
      guard let configuration = try file.configuration else { throw file.noArchitecture }
      let other = try weightsPath.map { path in
        try inFile(path) { try KerasFile(path, access: access) }
      }
      // An architecture without a version takes the version of the weights.
      func setting(_ name: String) -> String? {
        file.setting(name) ?? configuration[name]?.string ?? other?.setting(name)
      }
      return try KerasSource(
        path: path,
        version: KerasVersion(
          text: setting("keras_version"), backend: setting("backend"),
          configuration: configuration),
        configuration: configuration,
        weights: try other.map { other in try inFile(other.path) { try other.weights } }
          ?? file.weights,
        weightsPath: weightsPath, training: file.training)
    }
  }
}
