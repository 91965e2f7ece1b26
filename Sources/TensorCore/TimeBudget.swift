import LibC
import Synchronization

/// The time that the process may use. Whatever computes long asks for it between its parts.
package enum TimeBudget {
  /// The monotonic clock's nanoseconds at the end; 0 for no end.
  private static let end = Atomic<UInt64>(0)

  /// Ends the time after `seconds` from now.
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

/// The end of the whole command, unlike a `ModelError`, which may be that of one input.
package struct TimeIsOver: Error {
  package var error: ModelError {
    ModelError(.timedOut, "the time is over", hint: "\(setting: "timeout") allows more")
  }
}
