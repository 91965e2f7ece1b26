#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Uninitialised memory, aligned for the widest vectors, freed with its last reference.
public final class AlignedBuffer: @unchecked Sendable {
  public static let alignment = 64

  public let pointer: UnsafeMutableRawPointer
  public let byteCount: Int

  /// For sizes that the program itself has chosen.
  public init(byteCount: Int) {
    self.byteCount = byteCount
    var address: UnsafeMutableRawPointer?
    let status = posix_memalign(&address, Self.alignment, max(byteCount, 1))
    precondition(status == 0)
    pointer = address!
  }

  /// For sizes that come from a file: fails with an error instead of a trap where the memory is
  /// not to be had.
  public init(checkedByteCount byteCount: Int) throws {
    self.byteCount = byteCount
    var address: UnsafeMutableRawPointer?
    guard byteCount >= 0, posix_memalign(&address, Self.alignment, max(byteCount, 1)) == 0,
      let address
    else { throw ModelError(.outOfMemory, "cannot allocate \(byteCount) bytes") }
    pointer = address
  }

  deinit { free(pointer) }
}
