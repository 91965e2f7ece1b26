import Files
import TensorCore

/// A Core ML package (`.mlpackage`): a folder, or a zip archive of one. Its manifest names the item
/// that is the model; the paths of items are relative to its folder `Data`.
package struct ModelPackage: Sendable {
  private enum Place: Sendable {
    case folder(OpenFolder)
    case archive(ZipArchive, prefix: String)
  }

  static let manifest = "Manifest.json"
  static let data = "Data/"
  /// The prefix of file paths that means the folder of the model.
  static let modelFolder = "@model_path/"

  private let place: Place
  /// The path of the model in the package.
  private let modelPath: String
  /// The model's bytes.
  let model: Bytes

  /// Nil if the folder has no manifest. Everything is read from the folder now at this path.
  init?(folder path: String, limit: Int) throws {
    guard let folder = OpenFolder(path),
      let bytes = try folder.read(Self.manifest, limit: Limits.jsonBytes)
    else { return nil }
    place = .folder(folder)
    modelPath = try Self.data + Self.modelPath(bytes)
    model = try Self.read(modelPath, in: folder, limit: limit)
  }

  /// Nil if the archive has no manifest at its top level or one folder below.
  init?(_ archive: ZipArchive) throws {
    let member = archive.members.first { member in
      let parts = member.name.split(separator: "/")
      return parts.last.map { $0 == Self.manifest } ?? false && parts.count <= 2
    }
    guard let member else { return nil }
    try require(
      member.byteCount <= Limits.jsonBytes, .limitExceeded,
      "'\(member.name)' has \(member.byteCount) bytes, the limit is \(Limits.jsonBytes)")
    let prefix = String(member.name.dropLast(Self.manifest.count))
    place = .archive(archive, prefix: prefix)
    modelPath = try Self.data + Self.modelPath(archive.contents(member))
    guard let model = archive[prefix + modelPath] else {
      throw ModelError(
        .malformed, "the archive has no '\(prefix + modelPath)', which its manifest names")
    }
    self.model = try archive.contents(model)
  }

  /// A file that the model refers to, such as `@model_path/weights/weight.bin`.
  ///
  /// - Throws: `.malformed` if there is none, or the path leads outside the package.
  package func file(_ name: String) throws -> Bytes {
    let relative = String(name.dropFirst(Self.modelFolder.count))
    try require(
      name.hasPrefix(Self.modelFolder) && Self.isSafe(relative),
      "the path '\(name)' of a file leads outside the package")
    let folder = modelPath.split(separator: "/").dropLast().joined(separator: "/")
    let path = folder + "/" + relative
    switch place {
    case .folder(let root): return try Self.read(path, in: root, limit: Limits.fileBytes)
    case .archive(let archive, let prefix):
      guard let member = archive[prefix + path] else {
        throw ModelError(.malformed, "the archive has no '\(prefix + path)', which the model names")
      }
      return try archive.contents(member)
    }
  }

  private static func read(_ name: String, in folder: OpenFolder, limit: Int) throws -> Bytes {
    guard let bytes = try folder.read(name, limit: limit) else {
      throw ModelError(.malformed, "the package has no file '\(name)'")
    }
    return bytes
  }

  static func isSafe(_ path: String) -> Bool {
    !path.isEmpty && path.utf8.first != UInt8(ascii: "/") && !path.utf8.contains(0)
      && path.utf8.count <= Limits.nameBytes
      && !path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
  }

  /// Reads the path from `{"rootModelIdentifier": ID, "itemInfoEntries": {ID: {"path": …}}}`.
  private static func modelPath(_ manifest: Bytes) throws -> String {
    do {
      let json = try JSONValue(parsing: manifest.array(of: UInt8.self))
      guard let root = json["rootModelIdentifier"]?.string,
        let path = json["itemInfoEntries"]?[root]?["path"]?.string
      else {
        throw ModelError(
          .malformed, "it names no model",
          hint: "rootModelIdentifier is the key of an entry in itemInfoEntries, which has a path")
      }
      try require(isSafe(path), "the path '\(path)' of the model leads outside the package")
      return path
    } catch var error as ModelError {
      error.field = self.manifest
      throw error
    }
  }
}
