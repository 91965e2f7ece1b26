import CSystem
import LibC
import TensorCore

/// An open folder. Its items are found by name inside it, never through a symbolic link, even if
/// its path changes.
package final class OpenFolder: Sendable {
  let descriptor: Int32
  /// The path as the user gave it.
  package let path: String

  /// Opens the folder at a path from the user, which may be a link; nil, with `errno`, if that
  /// fails.
  package init?(_ path: String) {
    let descriptor = assay_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens an item that is a folder, not a link to one; nil, with `errno`, otherwise.
  package init?(_ name: UnsafePointer<CChar>, in folder: OpenFolder) {
    let descriptor = assay_open_at(
      folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    path = "\(folder.path)/\(String(cString: name))"
  }

  deinit { close(descriptor) }

  /// The type of an item; nil if there is none.
  package func kind(_ name: UnsafePointer<CChar>) -> mode_t? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return status.st_mode & S_IFMT
  }

  /// The names of all items as bytes, which need not be valid text.
  ///
  /// - Throws: `.missingFile` if the folder cannot be read to its end.
  package func names() throws -> [[CChar]] {
    let copy = assay_open_at(descriptor, ".", O_RDONLY | O_DIRECTORY, 0)
    guard copy >= 0, let listing = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      throw ModelError(.missingFile, "the folder cannot be read: \(systemMessage(code))")
    }
    defer { closedir(listing) }
    var names: [[CChar]] = []
    errno = 0
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { text in
          Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
        }
      }
      if name != [46, 0], name != [46, 46, 0] { names.append(name) }
      errno = 0
    }
    guard errno == 0 else {
      throw ModelError(.missingFile, "the folder cannot be read: \(systemMessage(errno))")
    }
    return names
  }

  /// The folder of the item at this path, and the item's name in it; nil, with `errno`, if there is
  /// no such folder.
  ///
  /// - Parameter creating: called after each missing folder is created; nil to create none.
  /// - Throws: `code` if the path leads outside or through a link.
  func place(
    of path: String, _ code: ModelError.Code, creating: ((OpenFolder, String) -> Void)? = nil
  ) throws -> (folder: OpenFolder, name: String)? {
    var names = pathNames(path)
    guard let name = names.popLast(), !names.contains(".."), name != "..", !path.utf8.contains(0)
    else { throw ModelError(code, "the path '\(path)' leads outside the folder") }
    var folder = self
    for name in names {
      if let creating {
        if mkdirat(folder.descriptor, name, 0o777) == 0 {
          creating(folder, name)
        } else if errno != EEXIST {
          return nil
        }
      }
      guard let inner = OpenFolder(name, in: folder) else {
        let number = errno
        if folder.kind(name) == S_IFLNK { throw Self.link(path, code) }
        errno = number
        return nil
      }
      folder = inner
    }
    if folder.kind(name) == S_IFLNK { throw Self.link(path, code) }
    return (folder, name)
  }

  private static func link(_ path: String, _ code: ModelError.Code) -> ModelError {
    ModelError(
      code, "'\(path)' is or passes a symbolic link, which is not followed here",
      hint: code == .cannotCreate
        ? "remove the link, or name another folder" : "put the file itself in the link's place")
  }

  /// The bytes of a file; nil if there is no regular file with this path.
  ///
  /// - Throws: `.malformed` if the path leads outside or through a link, and as `MappedFile.read`.
  package func read(_ path: String, limit: Int) throws -> Bytes? {
    guard let (folder, name) = try place(of: path, .malformed) else { return nil }
    let whole = self.path + (self.path.utf8.last == UInt8(ascii: "/") ? "" : "/") + path
    let file = assay_open_at(folder.descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw ModelError(.missingFile, "cannot be opened: \(systemMessage(errno))", file: whole)
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    OpenedFiles.notePart(status)
    return try inFile(whole) { try MappedFile.bytes(file, status, whole, limit: limit) }
  }

  /// The path inside the folder of the first item, at any depth, that the closure rejects.
  ///
  /// - Parameter isExpected: receives the bytes of the path.
  /// - Throws: `.cannotCreate` if a folder cannot be read or emptied.
  package func firstItem(
    butFor isExpected: (_ path: [UInt8], _ type: mode_t) throws -> Bool
  ) throws -> String? {
    try firstItem([], depth: 0, isExpected)
  }

  private func firstItem(
    _ start: [UInt8], depth: Int, _ isExpected: ([UInt8], mode_t) throws -> Bool
  ) throws -> String? {
    guard faccessat(descriptor, ".", R_OK | W_OK | X_OK, 0) == 0, let names = try? names() else {
      throw ModelError(.cannotCreate, "'\(path)' cannot be changed: \(systemMessage(errno))")
    }
    for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let path = start + name.dropLast().map { UInt8(bitPattern: $0) }
      let kind = kind(name) ?? 0
      let isFolder = kind == S_IFDIR
      guard try isExpected(path, kind), !isFolder || depth < Self.deepest else {
        return String(decoding: path, as: UTF8.self)
      }
      if isFolder, let folder = OpenFolder(name, in: self),
        let item = try folder.firstItem(path + [UInt8(ascii: "/")], depth: depth + 1, isExpected)
      {
        return item
      }
    }
    return nil
  }

  /// The maximum nesting of folders in a folder that is replaced.
  private static let deepest = 64

  /// Whether this process has read or written the file at this path in its current state.
  package func hasReadOrWritten(_ path: String) throws -> Bool {
    guard let (folder, name) = try place(of: path, .cannotCreate) else { return false }
    var status = stat()
    return fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
      && OpenedFiles.isPart(status)
  }

  /// Removes an item; for a folder, including its contents.
  func remove(_ name: UnsafePointer<CChar>) {
    if unlinkat(descriptor, name, 0) == 0 { return }
    if let folder = OpenFolder(name, in: self) {
      fchmod(folder.descriptor, 0o700)
      for name in (try? folder.names()) ?? [] { folder.remove(name) }
    }
    unlinkat(descriptor, name, AT_REMOVEDIR)
  }
}

/// The names in a path, without empty ones and `.`. Split by bytes, because a slash is one even
/// before a combining mark.
func pathNames(_ path: String) -> [String] {
  path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
}
