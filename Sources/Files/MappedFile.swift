import LibC
import Synchronization
import TensorCore

/// Whole files as `Bytes`: large regular files are mapped; everything else (`-` for standard input,
/// pipes, devices) is read into memory.
package enum MappedFile {
  /// Regular files up to this size are read, larger ones mapped.
  static let mappedByteCount = 4 << 20

  /// The bytes of the file at `path`.
  ///
  /// If another process truncates a mapped file while it is in use, the bytes are gone, and this
  /// process ends with a message. Replacing a file by renaming is safe.
  ///
  /// - Throws: `.missingFile` if the file cannot be opened or read, `.limitExceeded` if it is
  ///   larger than `limit`.
  package static func read(_ path: String, limit: Int = Limits.fileBytes) throws -> Bytes {
    try inFile(path == "-" ? "standard input" : path) {
      if path == "-" { return try readStandardInput(limit: limit) }
      // Opening a pipe must not wait for its writer.
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw openError(path) }
      defer { close(descriptor) }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw openError(path) }
      return try bytes(descriptor, status, path, limit: limit)
    }
  }

  /// The bytes of an open file.
  static func bytes(
    _ descriptor: Int32, _ status: stat, _ path: String, limit: Int
  ) throws -> Bytes {
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      throw ModelError(.missingFile, "is a directory, not a file")
    case S_IFREG where status.st_size > 0:
      let count = Int(status.st_size)
      guard count <= limit else { throw tooLarge("\(groupedText(count)) bytes", limit: limit) }
      OpenedFiles.note(status)
      if let known = OpenedFiles.bytes(status) { return known }
      guard count <= mappedByteCount else { return try map(descriptor, count, path, limit: limit) }
      let bytes = try readStream(descriptor, limit: limit, expected: count)
      OpenedFiles.keep(bytes, status)
      return bytes
    case S_IFIFO:
      if let known = OpenedFiles.bytes(status) { return known }
      let bytes = try readStream(descriptor, limit: limit)
      MemoryBudget.addInput(bytes.count)
      OpenedFiles.keep(bytes, status)
      return bytes
    default:
      return try readStream(descriptor, limit: limit)
    }
  }

  /// The bytes of a file that was just written.
  static func bytes(_ descriptor: Int32, _ path: String) throws -> Bytes {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw openError(path) }
    return status.st_size == 0
      ? Bytes() : try map(descriptor, Int(status.st_size), path, limit: Limits.fileBytes)
  }

  /// Keeps standard input for later readers: one detects the format, another reads the content.
  private static func readStandardInput(limit: Int) throws -> Bytes {
    try standardInput.withLock { known in
      let bytes = try known ?? readStream(0, limit: Limits.fileBytes)
      if known == nil { MemoryBudget.addInput(bytes.count) }
      known = bytes
      guard bytes.count <= limit else {
        throw tooLarge("\(groupedText(bytes.count)) bytes", limit: limit)
      }
      return bytes
    }
  }

  private static let standardInput = Mutex<Bytes?>(nil)

  private static func map(
    _ descriptor: Int32, _ byteCount: Int, _ path: String, limit: Int
  ) throws -> Bytes {
    do {
      return try MemoryMapping.bytes(descriptor, byteCount, path: path)
    } catch let error as ModelError where error.code != .outOfMemory {
      return try readStream(descriptor, limit: limit)
    }
  }

  private static func readStream(
    _ descriptor: Int32, limit: Int, expected: Int = 64 << 10
  ) throws -> Bytes {
    // One extra byte detects the end.
    var buffer = try AlignedBuffer(checkedByteCount: min(expected, limit) + 1)
    var count = 0
    var hasWaited = false
    while true {
      if count == buffer.byteCount {
        guard count <= limit else { throw tooLarge("more", limit: limit) }
        let larger = try AlignedBuffer(checkedByteCount: min(2 * count, limit + 1))
        larger.pointer.copyMemory(from: buffer.pointer, byteCount: count)
        buffer = larger
      }
      let length = systemRead(descriptor, buffer.pointer + count, buffer.byteCount - count)
      if length < 0 {
        if errno == EINTR { continue }
        if errno == EAGAIN {
          // The writer is still running.
          _ = isReadable(descriptor, milliseconds: -1)
          continue
        }
        throw ModelError(.missingFile, "cannot be read: \(systemMessage(errno))")
      }
      if length == 0, count == 0, !hasWaited, isPipe(descriptor) {
        hasWaited = true
        if isReadable(descriptor, milliseconds: 2000) { continue }
        throw ModelError(
          .missingFile, "is a pipe, and no program writes to it",
          hint: "start the program that writes to it first, or use - for standard input")
      }
      if length == 0 { break }
      count += length
    }
    guard count <= limit else { throw tooLarge("more", limit: limit) }
    return Bytes(base: buffer.pointer, count: count, owner: buffer)
  }

  private static func isPipe(_ descriptor: Int32) -> Bool {
    var status = stat()
    return descriptor != 0 && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Waits until there are bytes, or the writer is gone; a negative time waits forever.
  private static func isReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, milliseconds) > 0
  }

  private static func tooLarge(_ found: String, limit: Int) -> ModelError {
    ModelError(.limitExceeded, "the file has \(found); the limit is \(groupedText(limit)) bytes")
  }

  private static func openError(_ path: String) -> ModelError {
    let code = errno
    guard code == ENOENT else {
      return ModelError(.missingFile, "cannot be opened: \(systemMessage(code))")
    }
    var parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = String(parts.popLast() ?? "")
    let folder = parts.joined(separator: "/")
    var status = stat()
    if !folder.isEmpty, stat(folder, &status) != 0 {
      return ModelError(.missingFile, "no such file", hint: "the folder '\(folder)' does not exist")
    }
    let names = try? OpenFolder(parts.isEmpty ? "." : folder + "/")?.names()
    let end = name.lastIndex(of: ".") ?? name.endIndex
    let others = (names ?? []).prefix(1000).map {
      String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    .filter { $0.hasSuffix(name[end...]) && $0 != name }.map {
      String($0.dropLast(name[end...].count))
    }
    let similar = NameDistance.nearest(to: String(name[..<end]), among: others).first
    return ModelError(
      .missingFile, "no such file",
      hint: similar.map { "did you mean '\($0 + name[end...])'?" })
  }
}

// Inside `MappedFile`, `read` is its own function.
private func systemRead(
  _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ count: Int
) -> Int {
  read(descriptor, target, count)
}

/// The system's message for an `errno`.
func systemMessage(_ code: Int32) -> String { String(cString: strerror(code)) }
