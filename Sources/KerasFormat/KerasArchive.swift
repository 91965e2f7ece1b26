import HDF5Reader

/// A `.keras` archive of Keras 2.12 and later: `config.json`, `metadata.json`, `model.weights.h5`.
struct KerasArchive {
  let configuration: JSONValue
  /// The version of Keras that wrote it.
  let version: String?
  private let path: String
  private let archive: ZipArchive

  init(_ bytes: Bytes, path: String) throws {
    let archive = try ZipArchive(bytes)
    self.archive = archive
    self.path = path
    let member = try archive["config.json"].orThrow(Self.stranger(archive))
    configuration = try Self.withVocabularies(Self.json(member, in: archive), "assets", archive)
    version = try archive["metadata.json"].flatMap {
      try Self.json($0, in: archive)["keras_version"]?.string
    }
  }

  /// The configuration with the vocabularies that `adapt` has found: a lookup layer stores its own
  /// in a text file, in a folder named like the group of its weights.
  private static func withVocabularies(
    _ model: JSONValue, _ path: String, _ archive: ZipArchive
  ) throws -> JSONValue {
    guard archive.members.contains(where: { $0.name.hasPrefix(path + "/") }),
      var object = model.object, var config = object["config"]?.object,
      let layers = config["layers"]?.array
    else { return model }
    var counts: [String: Int] = [:]
    config["layers"] = .array(
      try layers.map { layer in
        let group = ObjectWeights.groupName(layer["class_name"]?.string ?? "")
        let number = counts[group, default: 0]
        counts[group] = number + 1
        let folder = "\(path)/layers/" + (number == 0 ? group : "\(group)_\(number)")
        guard let member = archive["\(folder)/vocabulary.txt"] else {
          return try withVocabularies(layer, folder, archive)
        }
        guard layer["config"]?["vocabulary"]?.isNull != false, var found = layer.object,
          var fields = found["config"]?.object
        else { return layer }
        try require(
          member.byteCount <= Limits.jsonBytes, .limitExceeded,
          "the archive's member '\(member.name)' has \(member.byteCount) bytes, "
            + "the limit is \(Limits.jsonBytes)")
        let text = String(
          decoding: try archive.contents(member).array(of: UInt8.self), as: UTF8.self)
        let words = text.split(separator: "\n", omittingEmptySubsequences: false)
        fields["vocabulary"] = .array(words.map { Int($0).map { .int($0) } ?? .string(String($0)) })
        found["config"] = .object(fields)
        return .object(found)
      })
    object["config"] = .object(config)
    return .object(object)
  }

  /// The weights file, stored uncompressed in the archive.
  func weights(access: HDF5Access) throws -> HDF5File {
    guard let member = archive["model.weights.h5"] else {
      if archive.members.contains(where: { $0.name.hasPrefix("model.weights") }) {
        throw ModelError(
          .unsupported, "its weights are not in 'model.weights.h5'",
          hint: "save the model with model.save(\"NAME.keras\")")
      }
      throw ModelError(
        .malformed, "the archive has no 'model.weights.h5'", hint: Self.list(archive))
    }
    return try HDF5File.open(
      archive.contents(member), name: "\(path) (\(member.name))", access: access)
  }

  private static func json(_ member: ZipArchive.Member, in archive: ZipArchive) throws -> JSONValue
  {
    try require(
      member.byteCount <= Limits.jsonBytes, .limitExceeded,
      "the archive's member '\(member.name)' has \(member.byteCount) bytes, "
        + "the limit is \(Limits.jsonBytes)")
    do {
      return try JSONValue(parsing: archive.contents(member).array(of: UInt8.self))
    } catch var error as ModelError {
      if error.message.hasPrefix("not JSON") {
        error.message = "the archive's member '\(member.name)' is \(error.message)"
      }
      throw error
    }
  }

  /// The error for an archive that is not from Keras.
  private static func stranger(_ archive: ZipArchive) -> ModelError {
    let inner = archive.members.first { $0.name.hasSuffix("/config.json") }
    return ModelError(
      .malformed, "the archive has no 'config.json', so it is not a Keras model",
      hint: inner.map { "'\($0.name)' is one level too deep: pack the folder's contents" }
        ?? list(archive))
  }

  private static func list(_ archive: ZipArchive) -> String {
    let names = archive.members.map(\.name)
    return names.isEmpty
      ? "it is empty"
      : "it contains " + names.prefix(8).joined(separator: ", ")
        + (names.count > 8 ? " and \(names.count - 8) more" : "")
  }
}
