import CSystem
import LibC
import Synchronization

/// The results of `body` for `0..<count`, computed by one thread per core that this process may
/// use, but at most eight, since each takes memory. Results do not depend on the thread.
///
/// - Parameter whenDone: receives the number of finished results, one call at a time.
/// - Throws: the error of the first index that has one.
package func concurrently<Value>(
  _ count: Int, whenDone: (Int) -> Void = { _ in }, _ body: (Int) throws -> Value
) throws -> [Value] {
  // The functions and the results outlive the threads, which are joined below.
  nonisolated(unsafe) let results = UnsafeMutableBufferPointer<Result<Value, any Error>?>.allocate(
    capacity: count)
  results.initialize(repeating: nil)
  defer {
    results.deinitialize()
    results.deallocate()
  }
  let next = Atomic(0)
  let finished = Mutex(0)
  withoutActuallyEscaping(body) { body in
    withoutActuallyEscaping(whenDone) { whenDone in
      let work = {
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          if index >= count { return }
          results[index] = Result { try body(index) }
          finished.withLock {
            $0 += 1
            whenDone($0)
          }
        }
      }
      let helpers = max(0, min(count, Int(assay_processor_count()), 8) - 1)
      let threads = (0..<helpers).compactMap { _ in startThread(work) }
      work()
      for thread in threads { pthread_join(thread, nil) }
    }
  }
  return try results.compactMap { try $0?.get() }
}
