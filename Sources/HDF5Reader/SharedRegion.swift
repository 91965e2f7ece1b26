import CSystem
import LibC
import TensorCore

/// Nameless memory that a worker fills: requests first, then values.
final class SharedRegion: Sendable {
  let descriptor: Int32
  let byteCount: Int

  init(byteCount: Int) throws {
    self.byteCount = byteCount
    func fail(_ what: String) -> ModelError {
      ModelError(.outOfMemory, "cannot \(what) shared memory: \(String(cString: strerror(errno)))")
    }
    let opened = assay_shared_memory()
    guard opened >= 0 else { throw fail("create") }
    defer { close(opened) }
    descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 10)
    guard descriptor >= 0 else { throw fail("create") }
    guard ftruncate(descriptor, off_t(max(byteCount, 1))) == 0 else { throw fail("size") }
    #if os(Linux)
      guard fcntl(descriptor, Self.addSeals, Self.sealShrink | Self.sealGrow) == 0 else {
        throw fail("seal")
      }
    #endif
  }

  deinit { close(descriptor) }

  /// For use before the worker starts.
  func write(_ bytes: [UInt8]) throws {
    precondition(bytes.count <= byteCount)
    if bytes.isEmpty { return }
    // On Darwin, shared memory cannot be written in any other way.
    guard
      let address = mmap(nil, bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      address != MAP_FAILED
    else {
      throw ModelError(
        .outOfMemory, "cannot map shared memory: \(String(cString: strerror(errno)))")
    }
    UnsafeMutableRawBufferPointer(start: address, count: bytes.count).copyBytes(from: bytes)
    munmap(address, bytes.count)
  }

  /// The contents, for use after the worker has ended. On Linux nothing can change them anymore:
  /// sealing fails if any process still has a writable mapping.
  func frozen() throws -> Bytes {
    #if os(Linux)
      guard fcntl(descriptor, Self.addSeals, Self.sealWrite | Self.sealSeal) == 0 else {
        throw ModelError(.malformed, "the HDF5 worker left a process behind")
      }
    #endif
    return try MemoryMapping.bytes(
      descriptor, max(byteCount, 1), path: "shared memory", isShared: true)
  }

  #if os(Linux)
    // <linux/fcntl.h>
    private static let addSeals: Int32 = 1033
    private static let sealSeal: Int32 = 1
    private static let sealShrink: Int32 = 2
    private static let sealGrow: Int32 = 4
    private static let sealWrite: Int32 = 8
  #endif
}
