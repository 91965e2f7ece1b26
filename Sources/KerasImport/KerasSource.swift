import ByteFormats
import HDF5Reader
import TensorCore

/// A Keras model as read from its files: its architecture, and the location of its weights.
public struct KerasSource: Sendable {
  package let path: String
  let version: KerasVersion
  /// Whether the model has weights.
  package var hasWeights: Bool { weights != nil }
  /// Keras's major version, 1, 2 or 3, which is inferred if the file does not state it.
  package var majorVersion: Int { version.isKeras1 ? 1 : version.isAtLeast(3, 0) ? 3 : 2 }
  /// The full version if the file states it, or else the major version.
  package var versionText: String { version.isKnown ? version.text : String(majorVersion) }
  let definition: ModelDefinition
  let weights: (any KerasWeights)?
  /// The weights file, if it differs from the architecture file.
  package let weightsPath: String?
  /// The loss and optimizer, if the model was saved with them.
  let training: JSONValue?
  /// The source files, if a function in one of them builds the network.
  var files: PythonFiles?
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

extension KerasSource {
  /// Whether a word names a function of a source file that builds a network, as
  /// `model.py:build_model(width=32)`.
  package static func isModelFunction(_ text: String) -> Bool { ModelFunction(text) != nil }

  /// Whether the file contains an architecture, whatever else it contains.
  package static func hasArchitecture(_ path: String) -> Bool {
    guard let configuration = try? KerasFile(path, access: .isolated).configuration else {
      return false
    }
    return configuration["class_name"] != nil || configuration["config"] != nil
  }

  /// Reads a complete HDF5 file or `.keras` archive; or combines the weights of one file with the
  /// architecture of another one, of a JSON file, or of a function in a source file.
  ///
  /// - Parameter sources: further source files that the function's file imports.
  /// - Throws: `ModelError` with the file and the layer.
  package static func load(
    _ path: String, weights weightsPath: String? = nil, sources: [String] = [],
    access: HDF5Access = .isolated
  ) throws -> KerasSource {
    if let function = ModelFunction(path) {
      return try load(function, path, weightsPath, sources, access)
    }
    return try inFile(path) {
      let file = try KerasFile(path, access: access)
      guard let configuration = try file.configuration else { throw file.noArchitecture }
      let other = try weightsPath.map { path in
        try inFile(path) { try KerasFile(path, access: access) }
      }
      // An architecture without a version gets the version of its weights.
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
          ?? file.weights, weightsPath: weightsPath, training: file.training)
    }
  }

  private static func load(
    _ function: ModelFunction, _ path: String, _ weightsPath: String?, _ sources: [String],
    _ access: HDF5Access
  ) throws -> KerasSource {
    let other = try weightsPath.map { path in
      try inFile(path) { try KerasFile(path, access: access) }
    }
    let weights = try other.map { other in try inFile(other.path) { try other.weights } } ?? nil
    // Files that group weights by object and state no version are from Keras 3, or 2.12 and later.
    var text = other?.setting("keras_version")
    if weights == nil { text = "3.0" }
    if let objects = weights as? ObjectWeights {
      text = text ?? (objects.root["layers"] != nil ? "3.0" : "2.12")
    }
    let version = KerasVersion(text: text, backend: other?.setting("backend"))
    try require(
      !version.isKeras1, .unsupported,
      "the weights are those of \(version.description), whose functions are not read",
      hint: "give the network's architecture: model.to_json()")
    let files = try PythonFiles([function.path] + sources)
    return try inFile(function.path) {
      KerasSource(
        path: path, version: version, definition: try function.model(files, version: version),
        weights: weights, weightsPath: weightsPath, training: nil, files: files)
    }
  }
}
