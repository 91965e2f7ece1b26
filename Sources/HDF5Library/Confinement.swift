import CSystem
import LibC

/// The rights that a worker gives up before it reads the file.
enum Confinement {
  /// The address space allowed in addition to what the process has at the start and twice the bytes
  /// of file and values.
  private static let freeMemory = 256 << 20
  private static let freeSeconds = 1
  private static let bytesPerSecond = 32 << 20

  /// - Parameters:
  ///   - file: the only file that can be opened afterwards, if the system can enforce that.
  ///   - workBytes: bytes of the file and of the values, which determine the limits on time and
  ///     memory.
  /// - Returns: the protections that are missing because the system lacks them.
  static func enter(file: Int32, workBytes: Int) -> String? {
    assay_bind_to_parent()
    let seconds = freeSeconds + workBytes / bytesPerSecond
    // AddressSanitizer reserves terabytes.
    let isSanitized = assay_is_linked("__asan_init") != 0
    let memory = isSanitized ? 0 : addressSpace().map { $0 + freeMemory + 2 * workBytes } ?? 0
    assay_limit_resources(UInt(seconds), UInt(memory))
    let parts = [
      (assay_confine_to_file(file), "Landlock"), (assay_filter_system_calls(), "a seccomp filter"),
    ]
    // Without them, the limits and the parent's checks remain.
    let missing = parts.filter { $0.0 == 0 }.map(\.1).joined(separator: " and ")
    return missing.isEmpty ? nil : "assay-hdf5 is not confined by \(missing) on this system"
  }

  /// Bytes of address space in use, if the system reports them.
  private static func addressSpace() -> Int? {
    let file = open("/proc/self/statm", O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 64)
    let count = read(file, &text, text.count)
    let pages = text.prefix(max(count, 0)).prefix { (48...57).contains($0) }
    return Int(String(decoding: pages, as: UTF8.self)).map { $0 * Int(getpagesize()) }
  }

  /// What a confined process can still do, as bits: 1 open another file, 2 create one, 4 open a
  /// socket, 8 start a process.
  static func leaks() -> Int32 {
    var leaks: Int32 = 0
    if open("/etc/passwd", O_RDONLY) >= 0 { leaks |= 1 }
    var template = Array("/tmp/assay-XXXXXX".utf8CString)
    if mkstemp(&template) >= 0 { leaks |= 2 }
    #if os(Linux)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    if socket(AF_INET, stream, 0) >= 0 { leaks |= 4 }
    var process: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = [nil]
    if posix_spawn(&process, "/bin/sh", nil, nil, &arguments, nil) == 0 { leaks |= 8 }
    return leaks
  }
}
