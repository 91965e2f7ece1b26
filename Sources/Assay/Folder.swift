import Files
import LibC
import TensorCore

/// Folders of the file system.
package enum Folder {
  package static func exists(_ path: String) -> Bool { kind(path) != nil }

  package static func isFolder(_ path: String) -> Bool { kind(path) == S_IFDIR }

  /// Whether it is a pipe or a device.
  package static func isDevice(_ path: String) -> Bool {
    kind(path).map { $0 != S_IFREG && $0 != S_IFDIR } ?? false
  }

  /// The bytes of a file, or of all files in a folder; nil if they cannot be read.
  package static func byteCount(_ path: String) -> Int? {
    var status = stat()
    guard isFolder(path) else { return stat(path, &status) == 0 ? Int(status.st_size) : nil }
    return (try? files(below: path))?.compactMap(byteCount).reduce(0, +)
  }

  /// Whether it can be read twice, unlike a pipe.
  static func isFile(_ path: String) -> Bool { kind(path) == S_IFREG }

  /// Distinguishes files whose names start with a dash from options: `-dash.jpg` becomes
  /// `./-dash.jpg`, because a word with an extension, or an existing file, is not an option.
  package static func marked(_ arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.count
    return arguments[..<end].map { word in
      guard word.hasPrefix("-"), word.utf8.count > 2, word.dropFirst().first?.isLetter == true,
        word.contains(".") || exists(word)
      else { return word }
      return "./" + word
    } + arguments[end...]
  }

  /// The regular files of the folder and its subfolders, in ascending order within each folder.
  /// Hidden files and links to folders, which could form a cycle, are skipped; broken links are not,
  /// so that whoever opens them reports them.
  ///
  /// - Throws: `.missingFile` if a folder cannot be read.
  package static func files(below folder: String) throws -> [String] {
    guard let items = try? OpenFolder(folder)?.names() else {
      throw ModelError(.missingFile, "the folder cannot be read", file: folder)
    }
    let names = items.map { item in
      String(decoding: item.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let start = folder.hasSuffix("/") ? folder : folder + "/"
    return try names.filter { !$0.hasPrefix(".") }.sorted().flatMap { name -> [String] in
      let path = start + name
      switch kind(path) {
      case S_IFREG, nil: return [path]
      case S_IFDIR where kind(path, followsLinks: false) == S_IFDIR: return try files(below: path)
      default: return []
      }
    }
  }

  /// Creates the folder and its parents if missing.
  ///
  /// - Parameter content: what needs the folder, for the message.
  /// - Throws: `.cannotCreate` if it is not a folder, or the system refuses.
  package static func make(_ path: String, for content: String) throws {
    if exists(path) {
      try require(
        isFolder(path), .cannotCreate, "is a file, but \(content) need a folder", file: path)
      return
    }
    var folder = path.hasPrefix("/") ? "/" : ""
    for name in path.split(separator: "/") {
      folder += name + "/"
      try require(
        mkdir(folder, 0o777) == 0 || isFolder(folder), .cannotCreate, "cannot create the folder",
        file: path)
    }
  }

  private static func kind(_ path: String, followsLinks: Bool = true) -> mode_t? {
    var status = stat()
    guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    return status.st_mode & S_IFMT
  }
}
