/// How long equal pieces of work took, in milliseconds.
package struct Timings: Sendable {
  /// In ascending order; at least one.
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

  /// The middle one, or the mean of the two in the middle.
  package var median: Double { (sorted[(count - 1) / 2] + sorted[count / 2]) / 2 }

  /// The shortest time that at least `share` of all do not exceed (nearest rank).
  package func percentile(_ share: Double) -> Double {
    sorted.nearestRank(share)
  }
}

/// Two measurements of the same work, and whether they differ by more than their noise.
///
/// What disturbs a run makes it longer, never shorter. The range from a measurement's minimum to its
/// median is therefore where the undisturbed time may lie. Two measurements are the same where these
/// ranges overlap, or where the minimums differ by less than 2 %, which another placement of the
/// same program in memory can make.
package struct TimingComparison: Sendable {
  package enum Verdict: String, Sendable {
    case same, faster, slower
    /// Fewer than five runs on a side.
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
