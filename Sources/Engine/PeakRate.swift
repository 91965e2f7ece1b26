import Kernels
import Synchronization

/// The peak rate of a machine's cores: multiply-adds in registers, without loads or stores.
package enum PeakRate {
  private static let burst = 0.000_5
  private static let whole = 0.025

  /// Operations per second of `threads` concurrent threads; a multiply-add counts as two.
  ///
  /// All threads work in bursts of half a millisecond for 25 ms; the result is the sum of their
  /// fastest bursts, so other processes hardly affect it. Precondition: the instruction set is
  /// available.
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
            let done = set.kernels.multiplyAddLoop(rounds: rounds, start: 0.05)
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
