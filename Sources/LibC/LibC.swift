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
    sysconf(Int32(_SC_LEVEL2_CACHE_SIZE))
  #else
    0
  #endif
}

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
