import LibC
import Synchronization

/// The time that the process may use. Long computations check it between their parts.
package enum TimeBudget {
  /// The deadline in nanoseconds of the monotonic clock; 0 for none.
  private static let end = Atomic<UInt64>(0)

  /// Sets the deadline to `seconds` from now.
  package static func allow(seconds: Double) {
    end.store(now + UInt64(seconds * 1e9), ordering: .relaxed)
  }

  /// Whether the time is over. Results may then be incomplete: `require` must follow.
  package static var isOver: Bool {
    let end = end.load(ordering: .relaxed)
    return end != 0 && now >= end
  }

  /// - Throws: `TimeIsOver`
  package static func require() throws { if isOver { throw TimeIsOver() } }

  /// Nanoseconds of the monotonic clock.
  package static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Ends the whole command, unlike a `ModelError`, which may concern a single input.
package struct TimeIsOver: Error {
  package var error: ModelError {
    ModelError(.timedOut, "the time is over", hint: "\(setting: "timeout") allows more")
  }
}
