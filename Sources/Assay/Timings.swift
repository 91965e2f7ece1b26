/// The durations of equal pieces of work, in milliseconds.
package struct Timings: Sendable {
  /// The times in ascending order; at least one.
  private let sorted: [Double]

  /// Nil if there are no times, or one is invalid.
  package init?(_ milliseconds: [Double]) {
    guard !milliseconds.isEmpty, milliseconds.allSatisfy({ $0.isFinite && $0 >= 0 }) else {
      return nil
    }
    sorted = milliseconds.sorted()
  }

  package var count: Int { sorted.count }
  package var minimum: Double { sorted[0] }
  package var mean: Double { sorted.reduce(0, +) / Double(count) }

  /// The median.
  package var median: Double { (sorted[(count - 1) / 2] + sorted[count / 2]) / 2 }

  /// The shortest time not exceeded by at least `share` of all (nearest rank).
  package func percentile(_ share: Double) -> Double { sorted.nearestRank(share) }
}

/// Two measurements of the same work, and whether they differ by more than noise.
///
/// Disturbances make a run longer, never shorter. The range from a measurement's minimum to its
/// median therefore contains the undisturbed time. Two measurements are the same if these ranges
/// overlap, or if the minimums differ by less than 2 %, which a different placement of the program
/// in memory can cause.
package struct TimingComparison: Sendable {
  package enum Verdict: String, Sendable {
    case same, faster, slower
    /// Fewer than five runs in one of them.
    case tooFewRuns = "too few runs"
  }

  package let verdict: Verdict
  /// The new minimum divided by the old one.
  package let ratio: Double

  static let fewestRuns = 5
  static let placement = 0.02

  package init(_ new: Timings, against old: Timings) {
    ratio = new.minimum / old.minimum
    if min(new.count, old.count) < Self.fewestRuns {
      verdict = .tooFewRuns
      return
    }
    let overlaps = new.minimum <= old.median && old.minimum <= new.median
    let difference = abs(new.minimum - old.minimum)
    if overlaps || difference < Self.placement * min(new.minimum, old.minimum) {
      verdict = .same
    } else {
      verdict = new.minimum < old.minimum ? .faster : .slower
    }
  }
}
