import Files
import LibC
import TensorCore

/// A Core ML package (`.mlpackage`), a folder or a zip archive of one. Its manifest names the item that
/// is the model; the items' paths lie in its folder `Data`.
enum ModelPackage {
  private static let manifest = "Manifest.json"
  private static let data = "Data/"

  /// The model's bytes; nil where the folder has no manifest.
  static func model(inFolder path: String, limit: Int) throws -> Bytes? {
    let path = path.hasSuffix("/") ? path : path + "/"
    var status = stat()
    guard stat(path + manifest, &status) == 0 else { return nil }
    let bytes = try read(manifest, in: path, limit: Limits.jsonBytes)
    return try read(data + modelPath(bytes), in: path, limit: limit)
  }

  /// The model's bytes; nil where the archive has no manifest at its top or one folder below.
  static func model(in archive: ZipArchive) throws -> Bytes? {
    let member = archive.members.first { member in
      let parts = member.name.split(separator: "/")
      return parts.last.map { $0 == manifest } ?? false && parts.count <= 2
    }
    guard let member else { return nil }
    try require(
      member.byteCount <= Limits.jsonBytes, .limitExceeded,
      "'\(member.name)' has \(member.byteCount) bytes, the limit is \(Limits.jsonBytes)")
    let path = try modelPath(archive.contents(member))
    let name = member.name.dropLast(manifest.count) + data + path
    guard let model = archive[String(name)] else {
      throw ModelError(.malformed, "the archive has no '\(name)', which its manifest names")
    }
    return try archive.contents(model)
  }

  /// A file of the package, whose real place is inside.
  private static func read(_ name: String, in folder: String, limit: Int) throws -> Bytes {
    if let root = realPath(folder), let file = realPath(folder + name) {
      try require(
        file.hasPrefix(root.hasSuffix("/") ? root : root + "/"),
        "'\(name)' is a link to a file outside the package")
    }
    var status = stat()
    try require(
      stat(folder + name, &status) == 0 && status.st_mode & S_IFMT == S_IFREG,
      "the package has no file '\(name)'")
    return try MappedFile.read(folder + name, limit: limit)
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Of `{"rootModelIdentifier": ID, "itemInfoEntries": {ID: {"path": …}}}`.
  private static func modelPath(_ manifest: Bytes) throws -> String {
    func isSafe(_ path: String) -> Bool {
      !path.isEmpty && !path.hasPrefix("/") && !path.contains("\0")
        && path.utf8.count <= Limits.nameBytes && !path.split(separator: "/").contains("..")
    }
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
