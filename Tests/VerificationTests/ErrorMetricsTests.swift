import TensorCore
import Testing

@testable import Verification

@Suite struct ErrorMetricsTests {
  private let exact = Tolerance(relative: 0, absolute: 0)

  private func metrics(
    _ actual: [Float], _ expected: [Float], _ tolerance: Tolerance
  ) -> ErrorMetrics {
    ErrorMetrics(
      Tensor(shape: [actual.count], actual), Tensor(shape: [expected.count], expected), tolerance)
  }

  // a = (1, 2, 3, 5), b = (1, 2, 4, 4): errors 0, 0, 1, 1; Σe² = 2, Σb² = 37, Σa² = 39, Σab = 37.
  @Test func formulas() {
    let m = metrics([1, 2, 3, 5], [1, 2, 4, 4], exact)
    #expect(m.largestAbsoluteError == 1)
    #expect(m.largestRelativeError == 0.25)
    #expect(m.meanError == 0.5)
    #expect(abs(m.rootMeanSquareError - 0.5.squareRoot()) < 1e-15)
    #expect(abs(m.cosine - 37 / (37.0 * 39).squareRoot()) < 1e-15)
    // 20·log₁₀(4 / √0.5) = 15.0515, 10·log₁₀(37 / 2) = 12.6717
    #expect(abs(m.peakSignalToNoise - 15.0515) < 1e-4)
    #expect(abs(m.signalToNoise - 12.6717) < 1e-4)
    #expect(m.countOutside == 2)
    #expect(m.histogram.exact == 2)
    #expect(m.histogram.counts[-ErrorHistogram.exponents.lowerBound] == 2)
  }

  @Test func toleranceCountsBothParts() {
    // For 10, the tolerance is 0.5 + 0.1 · 10 = 1.5.
    let tolerance = Tolerance(relative: 0.1, absolute: 0.5)
    #expect(metrics([11.5], [10], tolerance).isWithinTolerance)
    #expect(!metrics([11.6], [10], tolerance).isWithinTolerance)
    // Within the tolerance, the worst element is the one with the largest error.
    let close = ErrorMetrics(
      Tensor(shape: [2], [1.25, 0.0625]), Tensor(shape: [2], [1, 0]),
      Tolerance(relative: 0.5, absolute: 0.125))
    #expect(close.isWithinTolerance && close.worst?.index == [0])
    // The worst element exceeds its tolerance most, although its error is not the largest.
    let m = ErrorMetrics(
      Tensor(shape: [2, 2], [0, 103, 2, 0]), Tensor(shape: [2, 2], [0, 100, 0, 0]), tolerance)
    #expect(m.worst == ErrorMetrics.Element(index: [1, 0], actual: 2, expected: 0))
    #expect(m.countOutside == 1)
  }

  @Test func equalArraysAreInfinitelyFarFromNoise() {
    let m = metrics([0, 0], [0, 0], exact)
    #expect(m.signalToNoise == .infinity)
    #expect(m.peakSignalToNoise == .infinity)
    #expect(m.cosine == 1)
    #expect(metrics([0, 0], [1, 0], exact).cosine == 0)
  }

  @Test func notFiniteValuesMatchOnlyTheirLike() {
    let huge = Tolerance(relative: 1e30, absolute: 1e30)
    #expect(metrics([.nan, .infinity], [.nan, .infinity], exact).isWithinTolerance)
    for (a, b): (Float, Float) in [
      (.nan, 1), (1, .nan), (.infinity, 1), (1, .infinity), (.infinity, -.infinity),
      (.nan, .infinity),
    ] {
      let m = metrics([0, a, 2], [0, b, 2], huge)
      #expect(m.countOutside == 1 && m.countNotFinite == 1)
      #expect(m.worst?.index == [1])
      #expect(m.rootMeanSquareError == 0, "finite elements are equal")
    }
  }

  @Test func emptyArraysAgree() {
    let m = metrics([], [], exact)
    #expect(m.isWithinTolerance && m.worst == nil && m.meanError == 0)
  }
}
