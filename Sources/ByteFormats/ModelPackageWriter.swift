import Files
import LibC
import TensorCore

extension ModelPackage {
  /// Whether a path names a package.
  package static func isPackage(_ path: String) -> Bool {
    let path = path.hasSuffix("/") ? path.dropLast() : path[...]
    return path.lowercased().hasSuffix(".mlpackage")
  }

  /// Writes a package atomically: the manifest, the model and the files that it names, such as
  /// `@model_path/weights/weight.bin`. The same contents always give the same bytes.
  ///
  /// A package that is there is replaced, if it has nothing but what its manifest lists.
  package static func write(_ model: Bytes, files: [String: Bytes], to path: String) throws {
    let folder = "com.apple.CoreML/"
    let modelPath = folder + "model.mlmodel"
    var content = [(path: modelPath, bytes: model)]
    var folders: Set<String> = []
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      let path = Substring(name.utf8.dropFirst(modelFolder.utf8.count))
      content.append((folder + path, bytes))
      folders.insert(String(Substring(path.utf8.prefix { $0 != UInt8(ascii: "/") })))
    }
    var items = [
      Item(Item.modelID, "model.mlmodel", "CoreML Model Specification", modelPath)
    ]
    for name in folders.sorted() {
      let id = name == "weights" ? Item.weightsID : "assay." + name
      items.append(Item(id, name, "CoreML Model Weights", folder + name))
    }
    let manifest = """
      {
          "fileFormatVersion": "1.0.0",
          "itemInfoEntries": {
      \(items.map(\.text).joined(separator: ",\n"))
          },
          "rootModelIdentifier": \(JSONValue.string(items[0].id).text)
      }

      """
    try AtomicFolder.write(to: path, existing: .replaced(requireOnlyItems)) { writer in
      try writer.write(Self.manifest, Bytes(Array(manifest.utf8)))
      for file in content { try writer.write(data + file.path, file.bytes) }
    }
  }

  /// - Throws: `.cannotCreate` if a folder is no package, or has something that its manifest does not
  ///   list.
  private static func requireOnlyItems(_ folder: OpenFolder) throws {
    var paths: [[UInt8]]?
    if let bytes = try? folder.read(manifest, limit: Limits.jsonBytes),
      let json = try? JSONValue(parsing: bytes.array(of: UInt8.self)),
      let entries = json["itemInfoEntries"]?.object
    {
      paths = entries.members.compactMap { $0.value["path"]?.string }.filter(isSafe).map {
        Array((data + $0).utf8)
      }
    }
    let item = try folder.firstItem { path, type in
      guard let paths else { return false }
      if path == Array(manifest.utf8) { return type == S_IFREG }
      return paths.contains { listed in
        listed == path || path.starts(with: listed + [UInt8(ascii: "/")])
          || type == S_IFDIR && listed.starts(with: path + [UInt8(ascii: "/")])
      }
    }
    guard let item else { return }
    throw ModelError(
      .cannotCreate,
      paths == nil
        ? "is a folder that is no package, with '\(item)' in it"
        : "the package has '\(item)', which its manifest does not list",
      hint: "name a new package, or move what this one has to another folder")
  }
}

/// An entry of a manifest.
private struct Item {
  static let modelID = "8F2C6B0E-5D3A-4E1B-9C77-0A1D4B6E2F31"
  static let weightsID = "3B9E1D74-62A8-4C05-8E1F-7D5C9A0B4E62"

  let id: String
  let name: String
  let description: String
  let path: String

  init(_ id: String, _ name: String, _ description: String, _ path: String) {
    (self.id, self.name, self.description, self.path) = (id, name, description, path)
  }

  var text: String {
    func quoted(_ text: String) -> String { JSONValue.string(text).text }
    return """
              \(quoted(id)): {
                  "author": "com.apple.CoreML",
                  "description": "\(description)",
                  "name": \(quoted(name)),
                  "path": \(quoted(path))
              }
      """
  }
}
