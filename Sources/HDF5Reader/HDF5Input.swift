import TensorCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open file that begins like HDF5, is a regular one and within the size limit.
public final class HDF5Input: Sendable {
  public let path: String
  public let descriptor: Int32
  public let size: Int

  init(path: String) throws {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else {
      throw ModelError(
        .missingFile,
        errno == ENOENT
          ? "no such file" : "cannot be opened: \(String(cString: strerror(errno)))")
    }
    defer { close(opened) }
    var status = stat()
    guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ModelError(
        .malformed, "this is not a regular file",
        hint: "HDF5 is read at random places: save the data to a file first")
    }
    guard status.st_size <= Limits.fileBytes else {
      throw ModelError(
        .limitExceeded,
        "the file has \(status.st_size) bytes, more than the limit of \(Limits.fileBytes)")
    }
    // Above the numbers that a worker's descriptors are given.
    descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 10)
    guard descriptor >= 0 else {
      throw ModelError(.internal, "cannot open the file: \(String(cString: strerror(errno)))")
    }
    self.path = path
    size = Int(status.st_size)
    try FileSignature.checkHDF5(descriptor: descriptor, size: size)
  }

  deinit { close(descriptor) }
}
