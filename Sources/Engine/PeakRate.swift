import Kernels
import Synchronization

/// What a machine's cores can do at most: multiply-adds in registers, with nothing to load or store.
package enum PeakRate {
  private static let burst = 0.000_5
  private static let whole = 0.025

  /// Operations a second, a multiply-add being two, of `threads` threads at once.
  ///
  /// All threads work in bursts of half a millisecond for 25 ms; the result is the sum of each one's
  /// fastest burst, so that other processes on the machine disturb it little. Precondition: the
  /// instruction set is available.
  package static func measure(_ set: InstructionSet, threads: Int) -> Double {
    let pool = ThreadPool(threadCount: threads)
    let clock = ContinuousClock()
    let result = Mutex((rate: 0.0, sum: Float(0)))
    pool.onEveryThread { _, _ in
      var sum: Float = 0
      var rounds = 1000
      var best = 0.0
      let begin = clock.now
      while (clock.now - begin) / .seconds(1) < whole {
        var count = 0
        let seconds =
          clock.measure {
            let done = set.kernels.multiplyAddLoop(rounds: rounds)
            count = done.count
            sum += done.sum
          } / .seconds(1)
        best = max(best, 2 * Double(count) / max(seconds, 1e-9))
        if seconds < burst / 2 { rounds *= 2 }
      }
      result.withLock {
        $0.rate += best
        $0.sum += sum
      }
    }
    return result.withLock { $0.rate }
  }
}
