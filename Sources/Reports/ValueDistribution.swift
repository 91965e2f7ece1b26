import LibC

/// The distribution of values: range, mean, standard deviation, and counts in equal intervals.
package struct ValueDistribution: Sendable, Equatable {
  package private(set) var counts: [Int]
  package private(set) var range: ClosedRange<Double>
  package private(set) var mean: Double
  /// The standard deviation, √(Σ (x − mean)² / n).
  package private(set) var deviation: Double
  /// The number of infinite and NaN values, which the other statistics exclude.
  package private(set) var invalidCount: Int

  /// Nil if no value is finite.
  package init?(_ values: some Sequence<Float>, intervals: Int = 32) {
    var (least, largest, sum, count) = (Double.infinity, -Double.infinity, 0.0, 0)
    invalidCount = 0
    for value in values {
      guard value.isFinite else {
        invalidCount += 1
        continue
      }
      least = min(least, Double(value))
      largest = max(largest, Double(value))
      sum += Double(value)
      count += 1
    }
    guard count > 0 else { return nil }
    (range, mean) = (least...largest, sum / Double(count))
    counts = [Int](repeating: 0, count: intervals)
    let scale = largest > least ? Double(intervals) / (largest - least) : 0
    var squares = 0.0
    for value in values where value.isFinite {
      counts[min(intervals - 1, Int((Double(value) - least) * scale))] += 1
      squares += (Double(value) - mean) * (Double(value) - mean)
    }
    deviation = (squares / Double(count)).squareRoot()
  }

  package var chart: HTML {
    let largest = max(1, counts.max() ?? 1)
    let bars = counts.map { count in
      let height = count == 0 ? 0 : max(1, count * 40 / largest)
      return "v-\(height)h5v\(height)h1"
    }
    let text =
      "\(number(range.lowerBound)) to \(number(range.upperBound)), mean \(number(mean)), "
      + "deviation \(number(deviation))" + (invalidCount == 0 ? "" : ", \(invalidCount) not finite")
    return """
      <svg width="\(counts.count * 6)" height="41" role="img" aria-label="\(text)">\
      <path class="bar" d="M0 40\(bars.joined())"/></svg><span class="faint"> \(text)</span>
      """
  }
}
