import LibC

/// The most memory that the process has had at once, in bytes.
func peakMemoryBytes() -> Int {
  // What getrusage tells on Linux starts with the size of the process that started this one.
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

/// Bytes of mapped files, the program's own included, that lie in memory; nil if the system does
/// not say. They can be read again at any time, so the system takes them away where it is short.
func filePageBytes() -> Int? { statusBytes("RssFile") }

/// A line of Linux' account of the process, such as `VmHWM:    19566 kB`.
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
