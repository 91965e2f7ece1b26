import CSystem
import LibC
import TensorCore

/// Output folders that are either complete or absent.
///
/// A folder is written beside its destination and then takes its name; one that is there already is
/// exchanged with it in one step, and removed.
package enum AtomicFolder {
  /// Creates the folder at `path` with these files.
  ///
  /// - Parameter files: paths in the folder and their contents; folders in between are created.
  /// - Throws: `.cannotCreate`, `.cannotWrite`.
  package static func write(_ files: [(path: String, bytes: Bytes)], to path: String) throws {
    try inFile(path) {
      let destination = path.hasSuffix("/") ? String(path.dropLast()) : path
      var status = stat()
      let isThere = lstat(destination, &status) == 0
      if isThere, status.st_mode & S_IFMT != S_IFDIR {
        throw ModelError(.cannotCreate, "it is not a folder", hint: "name a new folder")
      }
      let name = destination.split(separator: "/").last.map(String.init) ?? destination
      let parent = String(destination.dropLast(name.utf8.count))
      let pending = "\(parent).\(name).\(getpid()).partial"
      removeTree(pending)
      defer { removeTree(pending) }
      try makeFolder(pending)
      for file in files {
        var folder = pending
        for part in file.path.split(separator: "/").dropLast() {
          folder += "/\(part)"
          try makeFolder(folder)
        }
        let target = pending + "/" + file.path
        try AtomicFile.write(to: target, byteCount: file.bytes.count) { handle in
          try file.bytes.withUnsafeBytes { try handle.write($0) }
        }
      }
      let moved =
        isThere ? assay_exchange_files(pending, destination) : rename(pending, destination)
      guard moved == 0 else {
        throw ModelError(.cannotCreate, String(cString: strerror(errno)))
      }
    }
  }

  private static func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw ModelError(.cannotCreate, String(cString: strerror(errno)))
    }
  }

  /// Removes a folder with its contents, without following links.
  private static func removeTree(_ path: String) {
    guard let folder = opendir(path) else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      let item = path + "/" + name
      var status = stat()
      if lstat(item, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
        removeTree(item)
      } else {
        unlink(item)
      }
    }
    rmdir(path)
  }
}
