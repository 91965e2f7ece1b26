import HDF5Reader

/// A file written by Keras, recognized by its content, not by its name.
package struct KerasFile {
  private enum Content {
    case architecture(JSONValue)
    case hdf5(HDF5File)
    case archive(KerasArchive)
  }

  package let path: String
  private let content: Content
  private let access: HDF5Access

  package init(_ path: String, access: HDF5Access) throws {
    self.path = path
    self.access = access
    let (bytes, format) = try FileFormat.read(path)
    switch format {
    case .zip:
      content = .archive(try KerasArchive(bytes, path: path))
    case .json:
      try require(
        bytes.count <= Limits.jsonBytes, .limitExceeded,
        "the file has \(bytes.count) bytes, the limit is \(Limits.jsonBytes)")
      content = .architecture(try JSONValue(parsing: bytes.array(of: UInt8.self)))
    case .foreign: throw format.error(expected: "a Keras file")
    default:
      content = .hdf5(try HDF5File.open(path, access: access))
    }
  }

  /// The architecture; nil if the file has none.
  package var configuration: JSONValue? {
    get throws {
      switch content {
      case .architecture(let json): return json
      case .archive(let archive): return archive.configuration
      case .hdf5(let file):
        guard let attribute = file.root.attributes["model_config"] else { return nil }
        let text = try attribute.string.orThrow(
          ModelError(.malformed, "the attribute 'model_config' is not text"))
        return try JSONValue(parsing: text)
      }
    }
  }

  package var noArchitecture: ModelError {
    guard case .hdf5(let file) = content, holdsWeights(file) else {
      return ModelError(
        .unsupported, "the file has no attribute 'model_config', so it is not a Keras model")
    }
    return ModelError(
      .unsupported, "the file contains weights but no architecture",
      hint:
        "give the architecture (.json) first: ARCHITECTURE.json \(path); or the Python function that "
        + "builds the network: model.py:build_model \(path)")
  }

  /// `keras_version` or `backend`, which are stored in different places.
  package func setting(_ name: String) -> String? {
    switch content {
    case .architecture(let json): return json[name]?.string
    case .archive(let archive): return name == "keras_version" ? archive.version : nil
    case .hdf5(let file):
      return file.root.attributes[name]?.string
        ?? (try? file.root.group("model_weights"))?.attributes[name]?.string
    }
  }

  /// Loss and optimizer.
  package var training: JSONValue? {
    get throws {
      guard case .hdf5(let file) = content else { return nil }
      return try file.root.attributes["training_config"]?.string.map { try JSONValue(parsing: $0) }
    }
  }

  /// Nil for a file that has only an architecture.
  package var weights: (any KerasWeights)? {
    get throws {
      switch content {
      case .architecture: nil
      case .archive(let archive): try Self.weights(archive.weights(access: access))
      case .hdf5(let file): try Self.weights(file)
      }
    }
  }

  private static func weights(_ file: HDF5File) throws -> any KerasWeights {
    if case .group(let group)? = file["model_weights"] { return try HDF5LayerWeights(root: group) }
    if file.root.attributeStrings("layer_names") != nil {
      return try HDF5LayerWeights(root: file.root)
    }
    if let weights = ObjectWeights(file.root) { return weights }
    throw ModelError(
      .malformed,
      "the file has none of 'model_weights', 'layer_names' and 'layers', so it contains no Keras weights",
      file: file.path)
  }

  private func holdsWeights(_ file: HDF5File) -> Bool {
    file.root.attributeStrings("layer_names") != nil || ObjectWeights(file.root) != nil
  }
}
