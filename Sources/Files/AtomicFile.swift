import LibC
import TensorCore

/// Output files that are either complete or absent.
///
/// A regular file is written next to its destination, flushed to disk and then moved into place.
/// Until then, an existing file stays intact; its permissions carry over to the new one. On Linux
/// the new file has no name until it is complete, so even a killed process leaves nothing behind.
/// Elsewhere it has a hidden name, which an interruption removes. `-` (standard output), pipes and
/// character devices are written directly. Directories, block devices and sockets are refused.
package enum AtomicFile {
  /// Creates the file at `path` with what `body` writes.
  ///
  /// - Parameter byteCount: the expected size, if known; a lack of space is then reported before
  ///   anything is written.
  /// - Parameter verify: looks at the complete file before it replaces an existing one. What is
  ///   written directly is not verified.
  /// - Throws: `.cannotCreate`, `.cannotWrite`, and whatever `body` throws.
  package static func write<Result>(
    to path: String, byteCount: Int? = nil, verify: ((Bytes) throws -> Void)? = nil,
    _ body: (OutputHandle) throws -> Result
  ) throws -> Result {
    try write(to: path, byteCount: byteCount, mayBeNameless: true, verify: verify, body)
  }

  /// - Parameter mayBeNameless: false if the file system does not support unnamed files.
  static func write<Result>(
    to path: String, byteCount: Int?, mayBeNameless: Bool, verify: ((Bytes) throws -> Void)? = nil,
    _ body: (OutputHandle) throws -> Result
  ) throws -> Result {
    try inFile(path == "-" ? "standard output" : path) {
      _ = ignoreFileSizeSignal
      if let descriptor = try directDescriptor(path) {
        let handle = OutputHandle(descriptor: descriptor, expectedByteCount: byteCount)
        defer { close(descriptor) }
        let result = try body(handle)
        try handle.flush()
        return result
      }
      try OpenedFiles.requireNoInput(path)
      let destination = try Destination(path)
      let file = try PendingFile(destination, mayBeNameless: mayBeNameless)
      defer { file.discard() }
      let handle = OutputHandle(descriptor: file.descriptor, expectedByteCount: byteCount)
      try handle.checkSpace()
      let result = try body(handle)
      try handle.flush()
      if let verify { try verify(MappedFile.bytes(file.descriptor, path)) }
      try file.commit()
      return result
    }
  }

  package static func write(_ bytes: [UInt8], to path: String) throws {
    try write(to: path, byteCount: bytes.count) { try $0.write(bytes) }
  }

  /// Without this, exceeding a file-size limit would kill the process instead of failing the write.
  private static let ignoreFileSizeSignal: Void = { signal(SIGXFSZ, SIG_IGN) }()

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
}

/// The destination of a file, with symbolic links resolved.
private struct Destination {
  let path: String
  let folder: String
  /// Permissions of the existing file.
  let mode: mode_t?

  init(_ given: String) throws {
    var path = given
    var status = stat()
    var hops = 0
    while lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
      hops += 1
      guard hops <= 32, let target = Self.linkTarget(path) else {
        throw AtomicFile.cannotCreate(hops > 32 ? ELOOP : errno)
      }
      path = target.hasPrefix("/") ? target : folderPath(of: path) + "/" + target
    }
    guard !path.isEmpty, !path.hasSuffix("/") else { throw AtomicFile.cannotCreate(ENOENT) }
    mode = lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    folder = folderPath(of: path)
    self.path = path
  }

  private static func linkTarget(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
      guard let base = buffer.baseAddress else { return nil }
      let length = readlink(path, base, Int(PATH_MAX))
      guard length > 0 else { return nil }
      return String(decoding: UnsafeRawBufferPointer(start: base, count: length), as: UTF8.self)
    }
  }

  /// The start of hidden names next to the destination.
  private var hiddenPrefix: String {
    "." + (path.split(separator: "/").last.map { String($0.prefix(100)) } ?? "") + "."
  }

  /// A hidden name next to the destination.
  func temporaryName(_ attempt: Int) -> String {
    "\(folder)/\(hiddenPrefix)\(getpid())-\(attempt)~"
  }

  /// Removes the files of earlier processes that were killed before they could rename them.
  func removeAbandoned() {
    guard let listing = opendir(folder) else { return }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.hasPrefix(hiddenPrefix), name.hasSuffix("~"),
        let process = pid_t(name.dropFirst(hiddenPrefix.count).prefix { $0.isNumber }), process > 0,
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      unlink(folder + "/" + name)
    }
  }
}

/// A file that is being written and is not in place yet.
private final class PendingFile {
  let destination: Destination
  let descriptor: Int32
  /// Its hidden name, if it has one.
  private var name: String?
  private var cleanup: Int?

  init(_ destination: Destination, mayBeNameless: Bool) throws {
    self.destination = destination
    #if os(Linux)
      if mayBeNameless, access("/proc/self/fd", X_OK) == 0 {
        let descriptor = open(destination.folder, Self.nameless | O_RDWR | O_CLOEXEC, 0o666)
        if descriptor >= 0 {
          self.descriptor = descriptor
          return
        }
        if ![EOPNOTSUPP, EISDIR, EINVAL].contains(errno) {
          throw AtomicFile.cannotCreate(errno)
        }
      }
    #endif
    destination.removeAbandoned()
    for attempt in 0..<100 {
      let candidate = destination.temporaryName(attempt)
      let token = InterruptCleanup.add(candidate)
      let descriptor = open(candidate, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o666)
      if descriptor >= 0 {
        self.descriptor = descriptor
        name = candidate
        cleanup = token
        return
      }
      let code = errno
      InterruptCleanup.remove(token)
      if code != EEXIST { throw AtomicFile.cannotCreate(code) }
    }
    throw AtomicFile.cannotCreate(EEXIST)
  }

  /// Flushes the bytes to disk and gives the file its name.
  func commit() throws {
    if let mode = destination.mode { fchmod(descriptor, mode) }
    try synchronize(descriptor)
    #if os(Linux)
      if name == nil { try link() }
    #endif
    if let name {
      guard rename(name, destination.path) == 0 else { throw AtomicFile.cannotCreate(errno) }
      self.name = nil
    }
    let folder = open(destination.folder, O_RDONLY | O_CLOEXEC)
    if folder >= 0 {
      defer { close(folder) }
      // The file is complete and has its name, whatever the folder's disk says.
      try? synchronize(folder)
    }
  }

  #if os(Linux)
    /// `O_TMPFILE`, which the C library's Swift module leaves out.
    private static let nameless = 0o20000000 | O_DIRECTORY

    /// Names the nameless file: directly if the destination is free, otherwise through a hidden
    /// name, since only renaming can replace a file.
    private func link() throws {
      let source = "/proc/self/fd/\(descriptor)"
      if destination.mode == nil,
        linkat(AT_FDCWD, source, AT_FDCWD, destination.path, AT_SYMLINK_FOLLOW) == 0
      {
        return
      }
      destination.removeAbandoned()
      for attempt in 0..<100 {
        let candidate = destination.temporaryName(attempt)
        cleanup = InterruptCleanup.add(candidate)
        if linkat(AT_FDCWD, source, AT_FDCWD, candidate, AT_SYMLINK_FOLLOW) == 0 {
          name = candidate
          return
        }
        let code = errno
        InterruptCleanup.remove(cleanup)
        cleanup = nil
        if code != EEXIST { throw AtomicFile.cannotCreate(code) }
      }
      throw AtomicFile.cannotCreate(EEXIST)
    }
  #endif

  /// Removes an uncommitted file.
  func discard() {
    close(descriptor)
    if let name { unlink(name) }
    InterruptCleanup.remove(cleanup)
  }

  private func synchronize(_ descriptor: Int32) throws {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    while fsync(descriptor) != 0 {
      if errno == EINTR { continue }
      // A file system that cannot do this has nothing to report.
      if errno == EINVAL || errno == ENOTSUP || errno == EROFS { return }
      throw ModelError(.cannotWrite, "cannot write: \(systemMessage(errno))")
    }
  }
}

/// The folder that the file of this path is in.
package func folderPath(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
