import CSystem
import LibC
import TensorCore

/// Output folders that are either complete or absent.
///
/// A folder is written as a `PendingItem` and then renamed. An existing folder is exchanged with it
/// in one step and removed; if the file system does not support that, the write fails.
package enum AtomicFolder {
  /// What happens to an existing folder; an empty one may always be used.
  package enum Existing {
    /// It is replaced, unless the closure throws because something in it must stay.
    case replaced((OpenFolder) throws -> Void)
    /// The files are added to it. Existing files of these names are replaced, or prevent writing.
    case filled(replacing: Bool)
  }

  /// Creates the folder at `path` with the files that `body` writes.
  ///
  /// - Throws: `.cannotCreate`, `.cannotWrite`, or what `body` throws; then nothing has changed.
  package static func write<Result>(
    to path: String, existing: Existing, _ body: (FolderWriter) throws -> Result
  ) throws -> Result {
    try inFile(path) {
      _ = AtomicFile.ignoreFileSizeSignal
      if case .filled = existing {
        removeAbandoned(path)
        if let folder = OpenFolder(path) { return try fill(folder, existing, path, body) }
        try makeParents(of: path)
      }
      guard let name = pathNames(path).last, name != ".." else {
        throw AtomicFile.cannotCreate(EEXIST)
      }
      guard let parent = OpenFolder(parentPath(path)) else { throw AtomicFile.cannotCreate(errno) }
      try requireReplaceable(name, in: parent, existing)
      return try pending(in: parent, for: name, path, body) { pending, _ in
        try InterruptCleanup.exclusively { items in
          try commit(pending, name, in: parent, existing, &items)
        }
        try? AtomicFile.synchronize(parent.descriptor)
      }
    }
  }

  /// Removes folders, possibly complete ones, that killed processes left next to the destination.
  package static func removeAbandoned(_ path: String) {
    guard let name = pathNames(path).last, let parent = OpenFolder(parentPath(path)) else { return }
    PendingItem.removeAbandoned(name, in: parent)
  }

  /// Like `folderPath`, but ignores slashes and dots after the name.
  private static func parentPath(_ path: String) -> String {
    let names = pathNames(path).dropLast().joined(separator: "/")
    if path.utf8.first == UInt8(ascii: "/") { return "/" + names }
    return names.isEmpty ? "." : names
  }

  private static func pending<Result>(
    in parent: OpenFolder, for name: String, _ path: String,
    _ body: (FolderWriter) throws -> Result,
    commit: (PendingItem, [String]) throws -> Void
  ) throws -> Result {
    let pending = try PendingItem.make(in: parent, for: name)
    defer { pending.discard() }
    let code = InterruptCleanup.exclusively { _ in
      mkdirat(pending.folder.descriptor, PendingItem.item, 0o777) == 0 ? 0 : errno
    }
    guard code == 0, let folder = OpenFolder(PendingItem.item, in: pending.folder) else {
      throw AtomicFile.cannotCreate(code == 0 ? errno : code)
    }
    let writer = FolderWriter(folder, path)
    let result = try body(writer)
    try? AtomicFile.synchronize(folder.descriptor)
    try commit(pending, writer.paths)
    return result
  }

  // MARK: Replacing a folder

  /// - Throws: `.cannotCreate` if the item is not a folder, or must stay. Returns the folder to
  ///   replace; nil if there is none, or it is empty.
  @discardableResult private static func requireReplaceable(
    _ name: String, in parent: OpenFolder, _ existing: Existing
  ) throws -> OpenFolder? {
    guard let kind = parent.kind(name) else { return nil }
    guard kind == S_IFDIR else {
      let what = kind == S_IFLNK ? "it is a symbolic link" : "it is not a folder"
      throw ModelError(.cannotCreate, what, hint: "name a new folder")
    }
    guard let folder = OpenFolder(name, in: parent) else { throw AtomicFile.cannotCreate(errno) }
    if try folder.names().isEmpty { return nil }
    guard case .replaced(let check) = existing else { throw AtomicFile.cannotCreate(ENOTEMPTY) }
    try check(folder)
    return folder
  }

  private static func commit(
    _ pending: PendingItem, _ name: String, in parent: OpenFolder, _ existing: Existing,
    _ items: inout [PendingItem]
  ) throws {
    func rename(_ kind: assay_renaming) -> Int32 {
      let item = PendingItem.item
      return assay_rename(pending.folder.descriptor, item, parent.descriptor, name, kind) == 0
        ? 0 : errno
    }
    // Another process may write the same folder, so each round checks what it left.
    for _ in 0..<100 {
      guard let old = try requireReplaceable(name, in: parent, existing) else {
        let code = rename(ASSAY_RENAME_REPLACE)
        if code == 0 { return }
        guard [ENOTEMPTY, EEXIST].contains(code) else { throw AtomicFile.cannotCreate(code) }
        continue
      }
      var status = stat()
      if fstat(old.descriptor, &status) == 0 {
        fchmodat(pending.folder.descriptor, PendingItem.item, status.st_mode & 0o7777, 0)
      }
      let code = rename(ASSAY_RENAME_EXCHANGE)
      if code == ENOENT { continue }
      if [ENOSYS, EINVAL, ENOTSUP].contains(code) {
        throw ModelError(
          .cannotCreate, "this file system cannot replace a folder in one step",
          hint: "name a new folder, and remove this one afterwards")
      }
      guard code == 0 else { throw AtomicFile.cannotCreate(code) }
      do { try requireReplaceable(PendingItem.item, in: pending.folder, existing) } catch {
        // Something was added to the folder after the first check.
        if rename(ASSAY_RENAME_EXCHANGE) != 0 { pending.abandon(&items) }
        throw error
      }
      return
    }
    throw AtomicFile.cannotCreate(EBUSY)
  }

  // MARK: Filling a folder

  private static func fill<Result>(
    _ folder: OpenFolder, _ existing: Existing, _ path: String,
    _ body: (FolderWriter) throws -> Result
  ) throws -> Result {
    guard case .filled(let replacing) = existing else { throw AtomicFile.cannotCreate(EEXIST) }
    let name = pathNames(path).last ?? "folder"
    return try pending(in: folder, for: name, path, body) { pending, paths in
      guard let new = OpenFolder(PendingItem.item, in: pending.folder) else {
        throw AtomicFile.cannotCreate(errno)
      }
      try InterruptCleanup.exclusively { _ in
        var made: [(folder: OpenFolder, name: String)] = []
        var moved: [(from: OpenFolder, to: OpenFolder, name: String)] = []
        do {
          for file in paths {
            try inFile("\(path)/\(file)") {
              let isFolder = file.hasSuffix("/")
              guard
                let (to, name) = try folder.place(
                  of: isFolder ? file + "any" : file, .cannotCreate,
                  creating: { made.append(($0, $1)) }),
                let (from, _) = try new.place(of: file, .cannotCreate)
              else { throw AtomicFile.cannotCreate(errno) }
              if isFolder { return }
              let isReplaced = replacing && to.kind(name) == S_IFREG
              if isReplaced { try OpenedFiles.requireReplaceable("\(path)/\(file)") }
              let code = rename(name, from: from, to: to, replacing: isReplaced)
              if code == EEXIST {
                throw ModelError(
                  .cannotCreate, "exists already", hint: "name another folder, or remove it")
              }
              guard code == 0 else { throw AtomicFile.cannotCreate(code) }
              if !isReplaced { moved.append((from, to, name)) }
            }
          }
        } catch {
          for file in moved { _ = rename(file.name, from: file.to, to: file.from, replacing: true) }
          for (folder, name) in made.reversed() { unlinkat(folder.descriptor, name, AT_REMOVEDIR) }
          throw error
        }
      }
      try? AtomicFile.synchronize(folder.descriptor)
    }
  }

  private static func rename(
    _ name: String, from: OpenFolder, to: OpenFolder, replacing: Bool
  ) -> Int32 {
    func rename(_ kind: assay_renaming) -> Int32 {
      assay_rename(from.descriptor, name, to.descriptor, name, kind) == 0 ? 0 : errno
    }
    if replacing { return rename(ASSAY_RENAME_REPLACE) }
    let code = rename(ASSAY_RENAME_NEW)
    guard [ENOSYS, EINVAL, ENOTSUP].contains(code) else { return code }
    return to.kind(name) != nil ? EEXIST : rename(ASSAY_RENAME_REPLACE)
  }

  private static func makeParents(of path: String) throws {
    let parent = folderPath(of: path)
    guard parent != path, mkdir(parent, 0o777) != 0, errno == ENOENT else { return }
    try makeParents(of: parent)
    mkdir(parent, 0o777)
  }
}

/// Writes the files of a folder that is not in place yet.
package final class FolderWriter {
  private let folder: OpenFolder
  /// The path of the destination.
  private let path: String
  fileprivate private(set) var paths: [String] = []

  fileprivate init(_ folder: OpenFolder, _ path: String) {
    (self.folder, self.path) = (folder, path)
  }

  /// Writes a file, creating missing folders.
  ///
  /// - Parameter byteCount: the expected size, if known.
  /// - Throws: `.cannotCreate`, also if the folder already has the file; `.cannotWrite`.
  package func write(
    _ file: String, byteCount: Int? = nil, _ body: (OutputHandle) throws -> Void
  ) throws {
    try inFile("\(path)/\(file)") {
      let (folder, name) = try place(file)
      let descriptor = InterruptCleanup.exclusively { _ in
        assay_open_at(folder.descriptor, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o666)
      }
      guard descriptor >= 0 else { throw AtomicFile.cannotCreate(errno) }
      defer { close(descriptor) }
      let handle = OutputHandle(descriptor: descriptor, expectedByteCount: byteCount)
      try handle.checkSpace()
      try body(handle)
      try handle.flush()
      try AtomicFile.synchronize(descriptor)
      try? AtomicFile.synchronize(folder.descriptor)
      var status = stat()
      if fstat(descriptor, &status) == 0 { OpenedFiles.notePart(status) }
      paths.append(file)
    }
  }

  package func write(_ file: String, _ bytes: Bytes) throws {
    try write(file, byteCount: bytes.count) { handle in try bytes.withUnsafeBytes(handle.write) }
  }

  /// Creates a folder that may stay empty.
  package func makeFolder(_ path: String) throws {
    _ = try place(path + "/any")
    paths.append(path + "/")
  }

  private func place(_ file: String) throws -> (folder: OpenFolder, name: String) {
    try InterruptCleanup.exclusively { _ in
      guard let place = try folder.place(of: file, .cannotCreate, creating: { _, _ in }) else {
        throw AtomicFile.cannotCreate(errno)
      }
      return place
    }
  }
}
