import LibC

/// The resident memory of a process, in bytes.
package struct ResidentMemory: Sendable {
  private let status: String

  /// The memory of this process.
  package static let own = ResidentMemory(status: "/proc/self/status")

  private init(status: String) { self.status = status }

  init(of process: pid_t) { status = "/proc/\(process)/status" }

  /// Makes `peak` of this process start from now (Linux).
  package static func resetPeak() {
    #if os(Linux)
      let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return }
      _ = write(descriptor, "5", 1)
      close(descriptor)
    #endif
  }

  /// The peak; 0 if the system does not report it.
  package var peak: Int { value("VmHWM:") }
  package var current: Int { value("VmRSS:") }

  private func value(_ name: String) -> Int {
    let descriptor = open(status, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return 0 }
    return (Int(line.filter(\.isNumber)) ?? 0) << 10
  }
}
