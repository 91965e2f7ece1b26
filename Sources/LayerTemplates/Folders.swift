import Files
import TensorCore

extension PluginPackage {
  /// Writes the package to the folder `path`, which must be empty or missing. A failed write leaves
  /// nothing behind.
  package func write(to path: String) throws {
    AtomicFolder.removeAbandoned(path)
    if let folder = OpenFolder(path), try !folder.names().isEmpty {
      throw ModelError(
        .cannotCreate, "exists already", file: path, hint: "choose another folder with -o DIR")
    }
    // An existing folder is filled in place, since it may be someone's working directory.
    try AtomicFolder.write(to: path, existing: .filled(replacing: false)) { writer in
      for file in files { try writer.write(file.path, Bytes(file.bytes)) }
      // Made even if it stays empty, since the manifest names it.
      try writer.makeFolder("Tests/\(name)Tests/Expected")
    }
  }
}

/// The files for an app: the Swift class of each custom layer, and its Metal kernel if it has one.
package struct AppStubs: Sendable {
  package private(set) var files: [PluginPackage.File]

  package init(_ classes: [LayerClass]) {
    files = classes.flatMap { layerClass in
      let text = ClassText(layerClass)
      var files = [
        PluginPackage.File(path: "\(layerClass.typeName).swift", bytes: Array(text.text.utf8))
      ]
      if let kernel = text.kernel {
        files.append(
          PluginPackage.File(path: "\(layerClass.typeName).metal", bytes: Array(kernel.utf8)))
      }
      return files
    }
    files += LayerFiles.used(by: classes.map { ClassText($0).text })
  }

  /// Writes the files to the folder `path`, creating it if necessary. Existing files are never
  /// changed; if one file cannot be written, none is.
  package func write(to path: String) throws {
    try AtomicFolder.write(to: path, existing: .filled(replacing: false)) { writer in
      for file in files { try writer.write(file.path, Bytes(file.bytes)) }
    }
  }
}
