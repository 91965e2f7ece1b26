import LibC

enum MachineMemory {
  /// Bytes of a core's second-level cache; 1 MiB if the system does not report it.
  static let secondLevelCacheByteCount: Int = {
    let bytes = LibC.secondLevelCacheByteCount()
    return bytes > 0 ? min(max(bytes, 256 << 10), 4 << 20) : 1 << 20
  }()
}
