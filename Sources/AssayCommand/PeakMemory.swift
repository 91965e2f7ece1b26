import LibC

/// The peak memory of the process in bytes.
func peakMemoryBytes() -> Int {
  // On Linux, getrusage reports at least the size of the parent process.
  if let peak = statusBytes("VmHWM") { return peak }
  var usage = rusage()
  #if os(Linux)
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss << 10
  #else
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
  #endif
}

/// The resident bytes of mapped files, including the program itself; nil if unknown. They can be
/// read again at any time, so the system evicts them when memory is short.
func filePageBytes() -> Int? { statusBytes("RssFile") }

/// The number in a line of Linux's process status, such as `VmHWM:    19566 kB`.
private func statusBytes(_ name: String) -> Int? {
  #if os(Linux)
    guard let file = fopen("/proc/self/status", "r") else { return nil }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 256)
    while fgets(&buffer, Int32(buffer.count), file) != nil {
      let line = String(
        decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      guard line.hasPrefix(name + ":") else { continue }
      return line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
        .map { $0 << 10 }
    }
  #endif
  return nil
}
