import CSystem
import LibC
import TensorCore

/// Output files that are either complete or absent.
///
/// A regular file is written next to its destination, flushed to disk and then moved into place.
/// Until then, an existing file stays intact; its permissions carry over to the new one. On Linux
/// the new file has no name until it is complete. If it needs a name earlier, it is a
/// `PendingItem`. `-` (standard output), pipes and character devices are written directly.
/// Directories, block devices and sockets are rejected.
package enum AtomicFile {
  /// Creates the file at `path` with what `body` writes.
  ///
  /// - Parameter folder: for one of several outputs; `path` is then inside it, missing folders are
  ///   created, and no symbolic link is followed.
  /// - Parameter byteCount: the expected size, if known; a lack of space is then reported before
  ///   anything is written.
  /// - Parameter verify: inspects the complete file before it replaces an existing one. Output that
  ///   is written directly is not verified.
  /// - Throws: `.cannotCreate`, `.cannotWrite`, and whatever `body` throws.
  package static func write<Result>(
    to path: String, in folder: String? = nil, byteCount: Int? = nil,
    verify: ((Bytes) throws -> Void)? = nil, _ body: (OutputHandle) throws -> Result
  ) throws -> Result {
    try write(to: path, in: folder, byteCount: byteCount, mayBeNameless: true, verify: verify, body)
  }

  /// - Parameter mayBeNameless: false if the file system does not support unnamed files.
  static func write<Result>(
    to path: String, in folder: String? = nil, byteCount: Int?, mayBeNameless: Bool,
    verify: ((Bytes) throws -> Void)? = nil, _ body: (OutputHandle) throws -> Result
  ) throws -> Result {
    let whole = folder.map { "\($0)/\(path)" } ?? path
    return try inFile(whole == "-" ? "standard output" : whole) {
      _ = ignoreFileSizeSignal
      if folder == nil, let descriptor = try directDescriptor(path) {
        let handle = OutputHandle(descriptor: descriptor, expectedByteCount: byteCount)
        defer { close(descriptor) }
        let result = try body(handle)
        try handle.flush()
        return result
      }
      try OpenedFiles.requireReplaceable(whole)
      let destination = try folder.map { try Destination(path, in: $0) } ?? Destination(path)
      let file = try PendingFile(destination, mayBeNameless: mayBeNameless)
      defer { file.discard() }
      let handle = OutputHandle(descriptor: file.descriptor, expectedByteCount: byteCount)
      try handle.checkSpace()
      let result = try body(handle)
      try handle.flush()
      if let verify { try verify(MappedFile.bytes(file.descriptor, whole)) }
      try file.commit()
      OpenedFiles.noteWritten(whole)
      return result
    }
  }

  package static func write(_ bytes: [UInt8], to path: String) throws {
    try write(to: path, byteCount: bytes.count) { try $0.write(bytes) }
  }

  /// Without this, exceeding a file-size limit would kill the process instead of failing the write.
  static let ignoreFileSizeSignal: Void = { signal(SIGXFSZ, SIG_IGN) }()

  /// A descriptor to write to directly, or nil if `path` should become a regular file.
  private static func directDescriptor(_ path: String) throws -> Int32? {
    var inherited: Int32?
    switch path {
    case "-", "/dev/stdout": inherited = 1
    case "/dev/stderr": inherited = 2
    default:
      for prefix in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(prefix) {
        inherited = Int32(path.dropFirst(prefix.count))
      }
    }
    if let inherited {
      let descriptor = fcntl(inherited, F_DUPFD_CLOEXEC, 3)
      guard descriptor >= 0 else { throw cannotCreate(errno) }
      return descriptor
    }
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      guard access(path, W_OK) == 0 else { throw cannotCreate(errno) }
      return nil
    case S_IFIFO, S_IFCHR:
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw cannotCreate(errno) }
      return descriptor
    case S_IFDIR:
      throw ModelError(
        .cannotCreate, "is a directory", hint: "give a file name, for example inside this directory"
      )
    default:
      throw ModelError(.cannotCreate, "is a device or a socket, which is never replaced")
    }
  }

  static func cannotCreate(_ code: Int32) -> ModelError {
    ModelError(
      .cannotCreate, "cannot create: \(systemMessage(code))",
      hint: code == ENOENT ? "create the folder of the output first" : nil)
  }

  static func synchronize(_ descriptor: Int32) throws {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    while fsync(descriptor) != 0 {
      if errno == EINTR { continue }
      // File systems that do not support this have no error to report.
      if errno == EINVAL || errno == ENOTSUP || errno == EROFS { return }
      throw ModelError(.cannotWrite, "cannot write: \(systemMessage(errno))")
    }
  }
}

/// The destination of a file.
private struct Destination {
  let folder: OpenFolder
  let name: String
  /// Permissions of the existing file.
  let mode: mode_t?

  /// - Parameter given: the path; links to files are followed.
  init(_ given: String) throws {
    var path = given
    var status = stat()
    var hops = 0
    while lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
      hops += 1
      guard hops <= 32, let target = Self.linkTarget(path) else {
        throw AtomicFile.cannotCreate(hops > 32 ? ELOOP : errno)
      }
      path = target.utf8.first == UInt8(ascii: "/") ? target : folderPath(of: path) + "/" + target
    }
    guard let name = pathNames(path).last, path.utf8.last != UInt8(ascii: "/") else {
      throw AtomicFile.cannotCreate(ENOENT)
    }
    guard let folder = OpenFolder(folderPath(of: path)) else {
      throw AtomicFile.cannotCreate(errno)
    }
    self.init(folder, name)
  }

  /// - Throws: `.cannotCreate` if something other than a file is there, such as a link.
  init(_ path: String, in folder: String) throws {
    guard let folder = OpenFolder(folder),
      let place = try folder.place(of: path, .cannotCreate, creating: { _, _ in })
    else { throw AtomicFile.cannotCreate(errno) }
    if let kind = place.folder.kind(place.name), kind != S_IFREG {
      throw ModelError(.cannotCreate, "is not a file", hint: "name another folder, or remove it")
    }
    self.init(place.folder, place.name)
  }

  private init(_ folder: OpenFolder, _ name: String) {
    (self.folder, self.name) = (folder, name)
    var status = stat()
    let isThere = fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    mode = isThere ? status.st_mode & 0o7777 : nil
  }

  private static func linkTarget(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
      guard let base = buffer.baseAddress else { return nil }
      let length = readlink(path, base, Int(PATH_MAX))
      guard length > 0 else { return nil }
      return String(decoding: UnsafeRawBufferPointer(start: base, count: length), as: UTF8.self)
    }
  }
}

/// A file that is being written and is not in place yet.
private final class PendingFile {
  let destination: Destination
  let descriptor: Int32
  /// The hidden item, if the file already has a name.
  private var pending: PendingItem?

  init(_ destination: Destination, mayBeNameless: Bool) throws {
    self.destination = destination
    if mayBeNameless, access("/proc/self/fd", X_OK) == 0 {
      let descriptor = assay_open_nameless(destination.folder.descriptor, 0o666)
      if descriptor >= 0 {
        self.descriptor = descriptor
        return
      }
      if ![EOPNOTSUPP, EISDIR, EINVAL].contains(errno) { throw AtomicFile.cannotCreate(errno) }
    }
    let pending = try PendingItem.make(in: destination.folder, for: destination.name)
    let descriptor = InterruptCleanup.exclusively { _ in
      assay_open_at(pending.folder.descriptor, PendingItem.item, O_CREAT | O_EXCL | O_RDWR, 0o666)
    }
    guard descriptor >= 0 else {
      let code = errno
      pending.discard()
      throw AtomicFile.cannotCreate(code)
    }
    (self.descriptor, self.pending) = (descriptor, pending)
  }

  /// Flushes the bytes to disk and moves the file into place.
  func commit() throws {
    if let mode = destination.mode { fchmod(descriptor, mode) }
    try AtomicFile.synchronize(descriptor)
    guard try pending != nil || !link() else { return }
    guard let pending else { return }
    let code = InterruptCleanup.exclusively { _ in
      assay_rename(
        pending.folder.descriptor, PendingItem.item, destination.folder.descriptor,
        destination.name, ASSAY_RENAME_REPLACE) == 0 ? 0 : errno
    }
    guard code == 0 else { throw AtomicFile.cannotCreate(code) }
    // The file is complete and in place, even if flushing the folder fails.
    try? AtomicFile.synchronize(destination.folder.descriptor)
  }

  /// Names the nameless file: directly if the destination is free, otherwise next to it, since only
  /// renaming can replace a file. Returns whether it is in place.
  private func link() throws -> Bool {
    let source = "/proc/self/fd/\(descriptor)"
    if destination.mode == nil,
      linkat(
        AT_FDCWD, source, destination.folder.descriptor, destination.name, AT_SYMLINK_FOLLOW) == 0
    {
      try? AtomicFile.synchronize(destination.folder.descriptor)
      return true
    }
    let pending = try PendingItem.make(in: destination.folder, for: destination.name)
    self.pending = pending
    let code = InterruptCleanup.exclusively { _ in
      linkat(AT_FDCWD, source, pending.folder.descriptor, PendingItem.item, AT_SYMLINK_FOLLOW) == 0
        ? 0 : errno
    }
    guard code == 0 else { throw AtomicFile.cannotCreate(code) }
    return false
  }

  /// Removes an uncommitted file.
  func discard() {
    close(descriptor)
    pending?.discard()
  }
}

/// The path of the folder that contains the file.
package func folderPath(of path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
