import LibC
import TensorCore

/// How an array a differs from the expected array b of the same size. Sums are in double precision.
///
/// Equal elements, including infinities, and NaN at the same position in both arrays do not differ.
/// NaN or infinity against anything else exceeds every tolerance and is left out of the means,
/// norms and ratios.
public struct ErrorMetrics: Sendable, Equatable {
  /// An element by its index along each axis.
  public struct Element: Sendable, Equatable {
    /// Index along each axis, outermost first.
    public let index: [Int]
    /// Value in array a.
    public let actual: Double
    /// Value in array b.
    public let expected: Double
  }

  /// Number of elements of each array.
  public let count: Int
  /// max |a − b|
  public let largestAbsoluteError: Double
  /// max |a − b| / |b| over the elements with b ≠ 0
  public let largestRelativeError: Double
  /// Σ |a − b| / n
  public let meanError: Double
  /// √(Σ (a − b)² / n)
  public let rootMeanSquareError: Double
  /// Σ a·b / √(Σ a² · Σ b²); 1 if both arrays are all zeros, 0 if only one is.
  public let cosine: Double
  /// 20 · log₁₀(max |b| / RMSE), or 20 · log₁₀(255 / RMSE) for images, in decibels; infinite if
  /// nothing differs.
  public let peakSignalToNoise: Double
  /// 10 · log₁₀(Σ b² / Σ (a − b)²), in decibels; infinite if nothing differs.
  public let signalToNoise: Double
  /// max |b| over the finite elements
  public let largestExpected: Double
  /// Elements outside the tolerance.
  public let countOutside: Int
  /// The number of these with NaN or infinity against something else.
  public let countNotFinite: Int
  /// The first element with NaN or infinity against something else, or the one that exceeds its
  /// tolerance most, or, if all are within, that with the largest error. Nil for an empty array.
  public let worst: Element?
  /// Distribution of the absolute errors.
  public let histogram: ErrorHistogram
  /// The tolerance used.
  public let tolerance: Tolerance

  /// Whether every element is within the tolerance.
  public var isWithinTolerance: Bool { countOutside == 0 }

  /// Precondition: the arrays have equally many elements. Indices are along the axes of `expected`.
  /// - Parameter peak: the largest possible value; nil for the largest actual value.
  public init(_ actual: Tensor, _ expected: Tensor, _ tolerance: Tolerance, peak: Double? = nil) {
    self = actual.withUnsafeElements { a in
      expected.withUnsafeElements { b in
        ErrorMetrics(a, b, shape: expected.shape, tolerance, peak: peak)
      }
    }
  }

  /// Precondition: both arrays have as many elements as `shape`.
  init<Actual: BinaryFloatingPoint, Expected: BinaryFloatingPoint>(
    _ actual: UnsafeBufferPointer<Actual>, _ expected: UnsafeBufferPointer<Expected>,
    shape: [Int], _ tolerance: Tolerance, peak: Double? = nil
  ) {
    precondition(actual.count == expected.count)
    var tolerance = tolerance
    if tolerance.isScaled {
      let largest = expected.reduce(0.0) { max($0, $1.isFinite ? abs(Double($1)) : 0) }
      tolerance = tolerance.scaled(to: largest)
    }
    var sums = Sums()
    var largestAbsolute = 0.0
    var largestRelative = 0.0
    var largestExpected = 0.0
    var outside = 0
    var notFinite = 0
    var worst: (position: Int, excess: (Double, Double))?
    var histogram = ErrorHistogram()
    for position in actual.indices {
      let a = Double(actual[position])
      let b = Double(expected[position])
      let isEqual = a == b || (a.isNaN && b.isNaN)
      if !isEqual && !(a.isFinite && b.isFinite) {
        outside += 1
        notFinite += 1
        largestAbsolute = .infinity
        histogram.add(.infinity)
        if notFinite == 1 { worst = (position, (2, 0)) }
        continue
      }
      let error = isEqual ? 0 : abs(a - b)
      let allowed = b.isFinite ? tolerance.allowed(b) : 0
      if error > allowed { outside += 1 }
      // Anything outside the tolerance is worse than anything within.
      let isOutside = error > allowed
      let excess = (isOutside ? 1.0 : 0, isOutside ? error - allowed : error)
      if worst.map({ excess > $0.excess }) ?? true { worst = (position, excess) }
      histogram.add(error)
      largestAbsolute = max(largestAbsolute, error)
      if b != 0 && b.isFinite { largestRelative = max(largestRelative, error / abs(b)) }
      if a.isFinite && b.isFinite {
        largestExpected = max(largestExpected, abs(b))
        sums.add(a, b, error)
      }
    }
    let finite = Double(max(sums.count, 1))
    count = actual.count
    largestAbsoluteError = largestAbsolute
    largestRelativeError = largestRelative
    meanError = sums.error / finite
    rootMeanSquareError = (sums.squaredError / finite).squareRoot()
    let norms = sums.squaredActual.squareRoot() * sums.squaredExpected.squareRoot()
    cosine = norms > 0 ? sums.product / norms : sums.squaredActual == sums.squaredExpected ? 1 : 0
    peakSignalToNoise =
      sums.squaredError == 0
      ? .infinity
      : 20 * log10((peak ?? largestExpected) / (sums.squaredError / finite).squareRoot())
    signalToNoise =
      sums.squaredError == 0 ? .infinity : 10 * log10(sums.squaredExpected / sums.squaredError)
    self.largestExpected = largestExpected
    countOutside = outside
    countNotFinite = notFinite
    self.histogram = histogram
    self.tolerance = tolerance
    self.worst = worst.map { found in
      Element(
        index: Self.index(of: found.position, in: shape), actual: Double(actual[found.position]),
        expected: Double(expected[found.position]))
    }
  }

  private struct Sums {
    var count = 0
    var error = 0.0
    var squaredError = 0.0
    var squaredActual = 0.0
    var squaredExpected = 0.0
    var product = 0.0

    mutating func add(_ a: Double, _ b: Double, _ difference: Double) {
      count += 1
      error += difference
      squaredError += difference * difference
      squaredActual += a * a
      squaredExpected += b * b
      product += a * b
    }
  }

  static func index(of position: Int, in shape: [Int]) -> [Int] {
    var rest = position
    return Array(
      shape.reversed().map { size in
        defer { rest /= size }
        return rest % size
      }.reversed())
  }
}
