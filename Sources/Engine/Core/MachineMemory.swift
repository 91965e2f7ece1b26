#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

enum MachineMemory {
  /// Bytes of physical memory.
  static var byteCount: Int {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let pageBytes = sysconf(Int32(_SC_PAGESIZE))
    return pages > 0 && pageBytes > 0 ? pages * pageBytes : Int.max
  }
}
