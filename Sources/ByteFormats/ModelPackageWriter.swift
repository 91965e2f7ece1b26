import Files
import TensorCore

extension ModelPackage {
  /// Whether a path names a package.
  package static func isPackage(_ path: String) -> Bool {
    let path = path.hasSuffix("/") ? path.dropLast() : path[...]
    return path.lowercased().hasSuffix(".mlpackage")
  }

  /// Writes a package atomically: the manifest, the model and the files that it names, such as
  /// `@model_path/weights/weight.bin`. The same contents always give the same bytes.
  package static func write(_ model: Bytes, files: [String: Bytes], to path: String) throws {
    let folder = "com.apple.CoreML"
    var items: [(id: String, name: String, description: String, path: String)] = [
      (
        "8F2C6B0E-5D3A-4E1B-9C77-0A1D4B6E2F31", "model.mlmodel",
        "CoreML Model Specification", folder + "/model.mlmodel"
      )
    ]
    if !files.isEmpty {
      items.append(
        (
          "3B9E1D74-62A8-4C05-8E1F-7D5C9A0B4E62", "weights", "CoreML Model Weights",
          folder + "/weights"
        ))
    }
    let entries = items.map { item in
      """
              "\(item.id)": {
                  "author": "com.apple.CoreML",
                  "description": "\(item.description)",
                  "name": "\(item.name)",
                  "path": "\(item.path)"
              }
      """
    }.joined(separator: ",\n")
    let manifest = """
      {
          "fileFormatVersion": "1.0.0",
          "itemInfoEntries": {
      \(entries)
          },
          "rootModelIdentifier": "\(items[0].id)"
      }

      """
    var all: [(path: String, bytes: Bytes)] = [
      ("Manifest.json", Bytes(Array(manifest.utf8))), ("Data/" + items[0].path, model),
    ]
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      all.append(("Data/" + folder + "/" + name.dropFirst("@model_path/".count), bytes))
    }
    try AtomicFolder.write(all, to: path)
  }
}
