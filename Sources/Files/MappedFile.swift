import LibC
import Synchronization
import TensorCore

/// Whole files as `Bytes`: regular files are mapped; everything else (`-` for standard input,
/// pipes, devices) is read into memory.
package enum MappedFile {
  /// The bytes of the file at `path`.
  ///
  /// The mapping is private, but if another process truncates the file while it is in use, the
  /// bytes are gone. A program that replaces files by renaming does no harm.
  ///
  /// - Throws: `.missingFile` if the file cannot be opened or read, `.limitExceeded` if it is
  ///   larger than `limit`.
  package static func read(_ path: String, limit: Int = Limits.fileBytes) throws -> Bytes {
    try inFile(path == "-" ? "standard input" : path) {
      if path == "-" { return try readStandardInput(limit: limit) }
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw openError(path) }
      defer { close(descriptor) }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw openError(path) }
      switch status.st_mode & S_IFMT {
      case S_IFDIR:
        throw ModelError(.missingFile, "is a directory, not a file")
      case S_IFREG where status.st_size > 0:
        return try map(descriptor, byteCount: Int(status.st_size), limit: limit)
      default:
        return try readStream(descriptor, limit: limit)
      }
    }
  }

  /// Keeps standard input for later readers: one detects the format, another reads the content.
  private static func readStandardInput(limit: Int) throws -> Bytes {
    try standardInput.withLock { known in
      let bytes = try known ?? readStream(0, limit: Limits.fileBytes)
      known = bytes
      guard bytes.count <= limit else { throw tooLarge("\(bytes.count) bytes", limit: limit) }
      return bytes
    }
  }

  private static let standardInput = Mutex<Bytes?>(nil)

  private static func map(_ descriptor: Int32, byteCount: Int, limit: Int) throws -> Bytes {
    guard byteCount <= limit else { throw tooLarge("\(byteCount) bytes", limit: limit) }
    guard let address = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else {
      if errno == ENOMEM { throw ModelError(.outOfMemory, "cannot map \(byteCount) bytes") }
      return try readStream(descriptor, limit: limit)
    }
    return Bytes(
      base: address, count: byteCount, owner: MemoryMapping(address: address, byteCount: byteCount))
  }

  private static func readStream(_ descriptor: Int32, limit: Int) throws -> Bytes {
    var buffer = try AlignedBuffer(checkedByteCount: min(64 << 10, limit + 1))
    var count = 0
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
        throw ModelError(.missingFile, "cannot be read: \(systemMessage(errno))")
      }
      if length == 0 { break }
      count += length
    }
    guard count <= limit else { throw tooLarge("more", limit: limit) }
    return Bytes(base: buffer.pointer, count: count, owner: buffer)
  }

  private static func tooLarge(_ found: String, limit: Int) -> ModelError {
    ModelError(.limitExceeded, "the file has \(found); the limit is \(limit) bytes")
  }

  private static func openError(_ path: String) -> ModelError {
    let code = errno
    guard code == ENOENT else {
      return ModelError(.missingFile, "cannot be opened: \(systemMessage(code))")
    }
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    var status = stat()
    let hint =
      !folder.isEmpty && stat(folder, &status) != 0
      ? "the folder '\(folder)' does not exist" : "check the path"
    return ModelError(.missingFile, "no such file", hint: hint)
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
