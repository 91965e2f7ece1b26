import LibC
import TensorCore

/// A read-only mapping, unmapped with its last reference.
final class Mapping: @unchecked Sendable {
  // `@unchecked`: the memory is only read.
  private let address: UnsafeMutableRawPointer
  private let byteCount: Int

  init(descriptor: Int32, byteCount: Int, shared: Bool) throws {
    guard
      let address = mmap(
        nil, byteCount, PROT_READ, shared ? MAP_SHARED : MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else {
      throw ModelError(
        .outOfMemory, "cannot map \(byteCount) bytes: \(String(cString: strerror(errno)))")
    }
    self.address = address
    self.byteCount = byteCount
  }

  deinit { munmap(address, byteCount) }

  var bytes: Bytes { Bytes(base: address, count: byteCount, owner: self) }
}

extension HDF5Input {
  /// Maps the whole file. If another process truncates it meanwhile, this program ends with SIGBUS.
  func map() throws -> Bytes {
    try Mapping(descriptor: descriptor, byteCount: size, shared: false).bytes
  }
}
