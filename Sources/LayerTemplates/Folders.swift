import Files
import TensorCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PluginPackage {
  /// Writes the package as the folder `path`, which must not exist or be empty. A package that could
  /// not be written whole leaves nothing.
  package func write(to path: String) throws {
    let manager = FileManager.default
    var folder = path
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    let exists = manager.fileExists(atPath: folder)
    // A folder that is there is filled as it is: it may be somebody's working directory.
    let draft = exists ? folder : folder + ".new"
    if manager.fileExists(atPath: draft) {
      guard let content = try? manager.contentsOfDirectory(atPath: draft), content.isEmpty else {
        throw ModelError(
          .cannotCreate, "exists already", file: draft, hint: "choose another folder with -o DIR")
      }
    }
    do {
      for file in files {
        try makeFolder(of: draft + "/" + file.path)
        try AtomicFile.write(file.bytes, to: draft + "/" + file.path)
      }
      // Even where it is empty, since the manifest names it.
      try makeFolder(of: draft + "/Tests/\(name)Tests/Expected/any")
      if !exists { try manager.moveItem(atPath: draft, toPath: folder) }
    } catch {
      if exists {
        for entry in (try? manager.contentsOfDirectory(atPath: draft)) ?? [] {
          try? manager.removeItem(atPath: draft + "/" + entry)
        }
      } else {
        try? manager.removeItem(atPath: draft)
      }
      if let error = error as? ModelError { throw error }
      throw ModelError(.cannotCreate, "the package cannot be written: \(error)", file: path)
    }
  }
}

/// The files for an app: the Swift class of each custom layer, and a Metal kernel where the class has
/// one.
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

  /// Writes the files into the folder `path`, which is made if need be. None that is there already is
  /// changed, and if one cannot be written, none is.
  package func write(to path: String) throws {
    let places = files.map { path + "/" + $0.path }
    for place in places where FileManager.default.fileExists(atPath: place) {
      throw ModelError(
        .cannotCreate, "exists already", file: place, hint: "name another folder, or remove it")
    }
    let isNew = !FileManager.default.fileExists(atPath: path)
    do {
      for (file, place) in zip(files, places) {
        try makeFolder(of: place)
        try AtomicFile.write(file.bytes, to: place)
      }
    } catch {
      for place in isNew ? [path] : places { try? FileManager.default.removeItem(atPath: place) }
      throw error
    }
  }
}

private func makeFolder(of path: String) throws {
  guard let slash = path.lastIndex(of: "/") else { return }
  let folder = String(path[..<slash])
  do {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  } catch { throw ModelError(.cannotCreate, "cannot create the folder", file: folder) }
}
