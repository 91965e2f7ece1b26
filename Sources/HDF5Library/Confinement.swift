import CPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a worker gives up before it looks at the file.
enum Confinement {
  /// Address space beyond what the process has when it starts and twice the bytes of file and values.
  private static let freeMemory = 256 << 20
  private static let freeSeconds = 5
  private static let bytesPerSecond = 32 << 20

  /// - Parameter workBytes: bytes of the file and of the values, which decide the time and the
  ///   memory.
  static func enter(workBytes: Int) {
    assay_bind_to_parent()
    let seconds = freeSeconds + workBytes / bytesPerSecond
    // AddressSanitizer reserves terabytes.
    let isSanitized = assay_is_linked("__asan_init") != 0
    let memory = isSanitized ? 0 : addressSpace().map { $0 + freeMemory + 2 * workBytes } ?? 0
    assay_limit_resources(UInt(seconds), UInt(memory))
    assay_filter_system_calls()
  }

  /// Bytes of address space in use, where the system tells.
  private static func addressSpace() -> Int? {
    let file = open("/proc/self/statm", O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 64)
    let count = read(file, &text, text.count)
    let pages = text.prefix(max(count, 0)).prefix { (48...57).contains($0) }
    return Int(String(decoding: pages, as: UTF8.self)).map { $0 * Int(getpagesize()) }
  }
}
