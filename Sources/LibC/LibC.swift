// The C library of the system, by one name.

#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Darwin)
  @_exported import Darwin
#endif

// Where systems differ.

/// Bytes of a core's second-level cache; 0 where the system does not say.
package func secondLevelCacheByteCount() -> Int {
  #if canImport(Glibc)
    let bytes = sysconf(Int32(_SC_LEVEL2_CACHE_SIZE))
    // On arm64 the C library does not say.
    return bytes > 0 ? bytes : kibibytes(in: "/sys/devices/system/cpu/cpu0/cache/index2/size") << 10
  #elseif canImport(Darwin)
    // Cores of the fastest kind share a cache; Intel processors have one kind.
    let shared = systemNumber("hw.perflevel0.l2cachesize")
    let cores = max(1, systemNumber("hw.perflevel0.cpusperl2"))
    return shared > 0 ? shared / cores : systemNumber("hw.l2cachesize")
  #else
    return 0
  #endif
}

#if canImport(Glibc)
  /// The number at the start of a file such as `1024K`; 0 where there is none.
  private func kibibytes(in path: String) -> Int {
    guard let file = fopen(path, "re") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 32)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    return max(0, min(atol(line), 1 << 30))
  }
#elseif canImport(Darwin)
  /// What the system says under a name; 0 where it says nothing.
  private func systemNumber(_ name: String) -> Int {
    // Some numbers have four bytes, some eight.
    var value: Int64 = 0
    var size = MemoryLayout<Int64>.size
    return sysctlbyname(name, &value, &size, nil, 0) == 0 ? Int(value) : 0
  }
#endif

/// Asks for large pages, where the system takes such advice.
package func adviseLargePages(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
  #if canImport(Glibc)
    madvise(address, byteCount, MADV_HUGEPAGE)
  #endif
}

/// Starts a thread; nil where the system gives none.
package func startThread(_ run: @escaping () -> Void) -> pthread_t? {
  let body = Unmanaged.passRetained(ThreadBody(run))
  #if canImport(Glibc)
    var handle = pthread_t()
  #else
    var handle: pthread_t?
  #endif
  let status = pthread_create(
    &handle, nil,
    { raw in
      let pointer: UnsafeMutableRawPointer? = raw
      if let pointer { Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run() }
      return nil
    }, body.toOpaque())
  if status == 0 { return handle }
  body.release()
  return nil
}

private final class ThreadBody {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}
