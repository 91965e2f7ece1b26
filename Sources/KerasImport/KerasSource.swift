import HDF5Reader
import ImportSupport
import TensorCore

/// A Keras model that has been read: its architecture, and where its weights are.
public struct KerasSource: Sendable {
  public let path: String
  /// Framework and version, such as `Keras 2.2.4`.
  public var sourceDescription: String { version.description }
  let version: KerasVersion
  /// Whether a file of weights belongs to it.
  public var hasWeights: Bool { weights != nil }
  let definition: ModelDefinition
  let weights: (any WeightSource)?
  /// Loss and optimizer, where the model was saved with them.
  let training: JSONValue?
}

extension KerasSource {
  init(
    path: String, version: KerasVersion, configuration: JSONValue, weights: (any WeightSource)?,
    training: JSONValue? = nil
  ) throws {
    self.path = path
    self.training = training
    self.version = version
    self.weights = weights
    var parser = ModelDefinitionParser(version: version)
    definition = try parser.model(configuration)
  }

  /// Reads a whole-model HDF5 file; an architecture JSON file with an HDF5 file of weights; or the
  /// architecture of one HDF5 file with the weights of another.
  static func load(
    _ path: String, weights weightsPath: String?, access: HDF5Access
  ) throws -> KerasSource {
    try inFile(path) {
      let weights = try weightsPath.map { path in
        try inFile(path) { try weightSource(HDF5File.open(path, access: access), path) }
      }
      if try isJSON(path) {
        let bytes = try MappedFile.read(path, limit: Limits.jsonBytes).array(of: UInt8.self)
        let json = try JSONValue(parsing: bytes)
        return try KerasSource(
          path: path,
          version: KerasVersion(
            text: json["keras_version"]?.string, backend: json["backend"]?.string),
          configuration: json, weights: weights)
      }
      let file = try HDF5File.open(path, access: access)
      guard let attribute = file.root.attributes["model_config"] else {
        let isWeights = file.root.attributeStrings("layer_names") != nil
        throw ModelError(
          .unsupported,
          isWeights
            ? "the file holds weights only, no architecture"
            : "the file has no attribute 'model_config': it is no Keras model",
          hint: isWeights
            ? "give the architecture's .json file first: ARCHITECTURE.json \(path)" : nil)
      }
      guard let text = attribute.string else {
        throw ModelError(.malformed, "the attribute 'model_config' is not a text")
      }
      let configuration = try JSONValue(parsing: text)
      func setting(_ name: String) -> String? {
        file.root.attributes[name]?.string
          ?? (try? file.root.group("model_weights"))?.attributes[name]?.string
          ?? configuration[name]?.string
      }
      return try KerasSource(
        path: path,
        version: KerasVersion(text: setting("keras_version"), backend: setting("backend")),
        configuration: configuration, weights: weights ?? weightSource(file, path),
        training: file.root.attributes["training_config"]?.string.map {
          try JSONValue(parsing: $0)
        })
    }
  }

  private static func weightSource(_ file: HDF5File, _ path: String) throws -> any WeightSource {
    if case .group(let group)? = file["model_weights"] { return try HDF5WeightSource(root: group) }
    guard file.root.attributeStrings("layer_names") != nil else {
      throw ModelError(
        .malformed, "the file has neither 'model_weights' nor 'layer_names': no Keras weights",
        file: path)
    }
    return try HDF5WeightSource(root: file.root)
  }

  private static func isJSON(_ path: String) throws -> Bool {
    let bytes = try MappedFile.read(path)
    return bytes[0..<min(bytes.count, 64)].withUnsafeBytes { head in
      let first = head.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
      return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
  }
}
