import ByteFormats
import CSystem
import Files
import LibC
import TensorCore

/// An open regular file with an HDF5 signature, within the size limit.
package final class HDF5Input: Sendable {
  package let path: String
  package let descriptor: Int32
  package let size: Int

  init(path: String) throws {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    try require(
      opened >= 0, .missingFile,
      errno == ENOENT ? "no such file" : "cannot be opened: \(String(cString: strerror(errno)))")
    defer { close(opened) }
    var status = stat()
    try require(
      fstat(opened, &status) == 0 && status.st_mode & S_IFMT == S_IFREG,
      "is not a regular file",
      hint: "HDF5 needs random access; save the data to a file first")
    try require(
      status.st_size <= Limits.fileBytes, .limitExceeded,
      "the file has \(status.st_size) bytes, more than the limit of \(Limits.fileBytes)")
    OpenedFiles.note(status)
    // A descriptor above those that a worker inherits.
    descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 10)
    try require(
      descriptor >= 0, .internal, "cannot open the file: \(String(cString: strerror(errno)))")
    self.path = path
    size = Int(status.st_size)
    try Self.checkFormat(MappedFile.read(path))
  }

  /// Copies bytes that are not a file by themselves, such as a member of an archive, into a
  /// nameless file.
  ///
  /// - Parameter name: the name in errors.
  init(bytes: Bytes, name: String) throws {
    guard bytes.count <= Limits.fileBytes else {
      throw ModelError(
        .limitExceeded, "\(bytes.count) bytes exceed the limit of \(Limits.fileBytes)")
    }
    descriptor = try Self.unnamedFile(bytes)
    path = name
    size = bytes.count
    try Self.checkFormat(bytes)
  }

  private static func checkFormat(_ bytes: Bytes) throws {
    let format = FileFormat(bytes)
    guard format != .hdf5 else { return }
    let start = bytes[0..<min(8, bytes.count)].array(of: UInt8.self).map {
      ($0 < 16 ? "0" : "") + String($0, radix: 16)
    }
    throw ModelError(
      .malformed, "is not an HDF5 file, but \(format.name)",
      hint: format.remedy ?? "its first bytes are " + start.joined(separator: " "))
  }

  deinit { close(descriptor) }

  private static func unnamedFile(_ bytes: Bytes) throws -> Int32 {
    func fail() -> ModelError {
      ModelError(
        .outOfMemory, "cannot copy \(bytes.count) bytes: \(String(cString: strerror(errno)))")
    }
    #if os(Linux)
      let opened = assay_shared_memory()
    #else
      // HDF5 needs `read`, but shared memory on Darwin can only be mapped.
      var template = Array((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp").utf8CString)
      template.removeLast()
      template += "/assay-XXXXXX".utf8CString
      let opened = mkstemp(&template)
      if opened >= 0 { unlink(template) }
    #endif
    guard opened >= 0 else { throw fail() }
    defer { close(opened) }
    try bytes.withUnsafeBytes { source in
      var offset = 0
      while offset < source.count {
        let count = pwrite(
          opened, source.baseAddress.map { $0 + offset }, min(source.count - offset, 1 << 24),
          off_t(offset))
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw fail() }
        offset += count
      }
    }
    let descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 10)
    guard descriptor >= 0 else { throw fail() }
    return descriptor
  }

  /// Maps the whole file.
  func map() throws -> Bytes { try MemoryMapping.bytes(descriptor, size, path: path) }
}
