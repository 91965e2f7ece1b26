import LibC
import TensorCore

/// The errors of one output over many inputs.
package struct OutputSummary: Sendable {
  package let name: String
  package private(set) var countAgreeing = 0
  /// Number of inputs for which the output does not have the expected shape.
  package private(set) var countMisshapen = 0
  /// The largest absolute error of each input.
  private var errors: [Double] = []
  private var sums = (elements: 0.0, error: 0.0, squaredError: 0.0)
  private var largestExpected = 0.0
  private var classes = (inputs: 0, top1: 0.0, topN: 0.0)
  /// The number of best classes compared; 0 if the output is not a vector of scores.
  package private(set) var topCount = 0

  init(name: String) { self.name = name }

  mutating func add(_ comparison: OutputComparison) {
    if comparison.agrees { countAgreeing += 1 }
    guard let metrics = comparison.metrics else {
      countMisshapen += 1
      errors.append(.infinity)
      return
    }
    errors.append(metrics.largestAbsoluteError)
    let count = Double(metrics.count - metrics.countNotFinite)
    sums.elements += count
    sums.error += metrics.meanError * count
    sums.squaredError += metrics.rootMeanSquareError * metrics.rootMeanSquareError * count
    largestExpected = max(largestExpected, metrics.largestExpected)
    if let agreement = comparison.classes {
      classes.inputs += 1
      classes.top1 += agreement.top1
      classes.topN += agreement.topN
      topCount = max(topCount, agreement.count)
    }
  }

  package var count: Int { errors.count }

  /// The largest error over all inputs.
  package var largestError: Double { errors.max() ?? 0 }

  /// The mean of the inputs' largest absolute errors.
  package var meanLargestError: Double { errors.reduce(0, +) / Double(max(1, errors.count)) }

  /// The smallest error that at least `share` of the inputs do not exceed (nearest rank).
  package func percentile(_ share: Double) -> Double {
    errors.isEmpty ? 0 : errors.sorted().nearestRank(share)
  }

  /// Σ |a − b| / n over the finite elements of all inputs.
  package var meanError: Double { sums.error / max(1, sums.elements) }

  /// √(Σ (a − b)² / n) over the same elements.
  package var rootMeanSquareError: Double {
    (sums.squaredError / max(1, sums.elements)).squareRoot()
  }

  /// 20 · log₁₀(max |b| / RMSE) over the same elements, in decibels; infinite if nothing differs.
  package var peakSignalToNoise: Double {
    sums.squaredError == 0 ? .infinity : 20 * log10(largestExpected / rootMeanSquareError)
  }

  /// The fraction of the inputs with the same best class, and the mean fraction of the expected
  /// best classes that are among the actual ones; nil for an output without scores.
  package var agreement: (top1: Double, topN: Double)? {
    classes.inputs == 0
      ? nil : (classes.top1 / Double(classes.inputs), classes.topN / Double(classes.inputs))
  }
}

extension [Double] {
  /// The smallest element that `share` of the elements do not exceed; for a sorted, nonempty array.
  package func nearestRank(_ share: Double) -> Double {
    self[Swift.min(Swift.max(Int((share * Double(count)).rounded(.up)), 1), count) - 1]
  }
}

/// A summary of the comparisons for many inputs.
package struct ComparisonSummary: Sendable {
  /// An output for one input.
  package struct Case: Sendable {
    package let input: String
    package let output: String
    package let agrees: Bool
    /// Infinite if the shapes differ.
    package let error: Double
  }

  /// The number of worst inputs to keep.
  package static let worstCount = 10

  /// In the order of first appearance.
  package private(set) var outputs: [OutputSummary] = []
  package private(set) var count = 0
  package private(set) var countAgreeing = 0
  /// The inputs with the worst outputs: those that differ first, then by error.
  package private(set) var worst: [Case] = []
  /// Outputs without a counterpart.
  package private(set) var notCompared: [String] = []

  package init() {}

  package var matches: Bool { count == countAgreeing }

  package mutating func add(
    _ input: String, _ comparisons: [OutputComparison], notCompared names: [String] = []
  ) {
    count += 1
    notCompared += names.filter { !notCompared.contains($0) }
    if comparisons.allSatisfy(\.agrees) { countAgreeing += 1 }
    for comparison in comparisons {
      if !outputs.contains(where: { $0.name == comparison.name }) {
        outputs.append(OutputSummary(name: comparison.name))
      }
      for index in outputs.indices where outputs[index].name == comparison.name {
        outputs[index].add(comparison)
      }
    }
    guard let comparison = comparisons.max(by: { $0.severity < $1.severity }) else { return }
    let own = Case(
      input: input, output: comparison.name, agrees: comparison.agrees,
      error: comparison.metrics?.largestAbsoluteError ?? .infinity)
    func isWorse(_ a: Case, _ b: Case) -> Bool {
      a.agrees == b.agrees ? a.error > b.error : !a.agrees
    }
    worst.insert(own, at: worst.firstIndex { isWorse(own, $0) } ?? worst.count)
    if worst.count > Self.worstCount { worst.removeLast() }
  }
}

extension OutputComparison {
  /// The error of the worst element relative to its tolerance; infinite if the shapes differ.
  fileprivate var severity: Double {
    guard let metrics else { return .infinity }
    guard let worst = metrics.worst else { return 0 }
    let error = abs(worst.actual - worst.expected)
    guard error.isFinite else { return metrics.countNotFinite > 0 ? .infinity : 0 }
    let allowed = metrics.tolerance.allowed(worst.expected)
    return error == 0 ? 0 : error / max(allowed, .leastNormalMagnitude)
  }
}
