import LibC

enum MachineMemory {
  /// Bytes of physical memory.
  static var byteCount: Int {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let pageBytes = sysconf(Int32(_SC_PAGESIZE))
    return pages > 0 && pageBytes > 0 ? pages * pageBytes : Int.max
  }

  /// Bytes of a core's second-level cache; 1 MiB if the system does not report it.
  static let secondLevelCacheByteCount: Int = {
    let bytes = LibC.secondLevelCacheByteCount()
    return bytes > 0 ? min(max(bytes, 256 << 10), 4 << 20) : 1 << 20
  }()
}
