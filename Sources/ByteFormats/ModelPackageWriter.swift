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
  /// An existing package is replaced if it contains only what its manifest lists. If this process
  /// has opened it, the items and files that were not read are kept.
  package static func write(_ model: Bytes, files: [String: Bytes], to path: String) throws {
    let kept = try inFile(path) { try KeptItems(path) }
    let modelPath = kept?.modelPath ?? "com.apple.CoreML/model.mlmodel"
    let slash = modelPath.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { String(modelPath[...$0]) } ?? ""
    var content = [(path: modelPath, bytes: model)]
    var folders: Set<String> = []
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      let path = Substring(name.utf8.dropFirst(modelFolder.utf8.count))
      content.append((folder + path, bytes))
      folders.insert(String(Substring(path.utf8.prefix { $0 != UInt8(ascii: "/") })))
    }
    var items = [
      Item(kept?.modelID ?? Item.modelID, "model.mlmodel", "CoreML Model Specification", modelPath)
    ]
    for name in folders.sorted() {
      let id = name == "weights" ? Item.weightsID : "assay." + name
      items.append(Item(id, name, "CoreML Model Weights", folder + name))
    }
    let entries =
      items.map { $0.text(besides: kept?.entries ?? []) }
      + (kept?.entries ?? []).filter { entry in !items.contains { $0.path == entry.path } }
      .map { "        \(JSONValue.string($0.id).text): \($0.value.text)" }
    let manifest = """
      {
          "fileFormatVersion": "1.0.0",
          "itemInfoEntries": {
      \(entries.joined(separator: ",\n"))
          },
          "rootModelIdentifier": \(JSONValue.string(items[0].id).text)
      }

      """
    try AtomicFolder.write(to: path, existing: .replaced(requireOnlyItems)) { writer in
      try writer.write(Self.manifest, Bytes(Array(manifest.utf8)))
      for file in content + (kept?.files ?? []) { try writer.write(data + file.path, file.bytes) }
      for folder in kept?.folders ?? [] { try writer.makeFolder(data + folder) }
    }
  }

  /// - Throws: `.cannotCreate` if a folder is not a package, or contains something that its
  ///   manifest does not list, or an input of a command that does not read the package itself.
  private static func requireOnlyItems(_ folder: OpenFolder) throws {
    // Must come before the manifest is read here.
    let isOwn = try folder.hasReadOrWritten(manifest)
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
      if !isOwn {
        try OpenedFiles.requireReplaceable(
          "\(folder.path)/" + String(decoding: path, as: UTF8.self))
      }
      return paths.contains { listed in
        listed == path || path.starts(with: listed + [UInt8(ascii: "/")])
          || type == S_IFDIR && listed.starts(with: path + [UInt8(ascii: "/")])
      }
    }
    guard let item else { return }
    throw ModelError(
      .cannotCreate,
      paths == nil
        ? "is a folder but not a package, and contains '\(item)'"
        : "the package contains '\(item)', which its manifest does not list",
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

  func text(besides kept: [KeptItems.Entry]) -> String {
    func quoted(_ text: String) -> String { JSONValue.string(text).text }
    var id = id
    while kept.contains(where: { $0.id == id && $0.path != path }) { id += "-" }
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

/// Items and files of a package that this process opened but did not read.
private struct KeptItems {
  struct Entry {
    let id: String
    let path: String?
    let value: JSONValue
  }

  /// The identifier of the model, which replaces the old one.
  let modelID: String
  let modelPath: String
  private(set) var entries: [Entry] = []
  /// The kept files, with paths in `Data`.
  private(set) var files: [(path: String, bytes: Bytes)] = []
  private(set) var folders: [String] = []

  /// Nil if there is nothing to keep.
  init?(_ path: String) throws {
    guard let folder = OpenFolder(path), try folder.hasReadOrWritten(ModelPackage.manifest),
      let bytes = try folder.read(ModelPackage.manifest, limit: Limits.jsonBytes),
      let json = try? JSONValue(parsing: bytes.array(of: UInt8.self)),
      let members = json["itemInfoEntries"]?.object?.members,
      let root = json["rootModelIdentifier"]?.string,
      let model = json["itemInfoEntries"]?[root]?["path"]?.string
    else { return nil }
    (modelID, modelPath) = (root, model)
    for (id, value) in members where id != root {
      let path = value["path"]?.string
      if try path.map({ try keep($0, of: folder) }) ?? true {
        entries.append(Entry(id: id, path: path, value: value))
      }
    }
    if entries.isEmpty { return nil }
  }

  /// Keeps the unread files of an item. Returns whether there are any, or the item has no files.
  private mutating func keep(_ item: String, of package: OpenFolder) throws -> Bool {
    guard ModelPackage.isSafe(item) else { return true }
    let start = Array((ModelPackage.data + item).utf8)
    var (count, known) = (0, 0)
    let link = try package.firstItem { path, type in
      let isInside = path == start || path.starts(with: start + [UInt8(ascii: "/")])
      guard isInside else { return true }
      let name = String(decoding: path, as: UTF8.self)
      let place = String(name.dropFirst(ModelPackage.data.count))
      if type == S_IFDIR {
        folders.append(place)
        return true
      }
      count += 1
      if try package.hasReadOrWritten(name) {
        known += 1
      } else if let bytes = try package.read(name, limit: Limits.fileBytes) {
        files.append((place, bytes))
      } else {
        return false
      }
      return true
    }
    if let link {
      throw ModelError(
        .cannotCreate, "the package contains '\(link)', which is not a file and cannot be kept",
        hint: "name a new package")
    }
    return known == 0 || known < count
  }
}
