import Testing

@testable import Assay

@Suite struct TimingsTests {
  @Test func summaryOfTenTimes() throws {
    // 1 … 10: 90 % are at most the ninth value, 99 % at most the tenth.
    let timings = try #require(Timings([7, 1, 10, 4, 2, 9, 5, 3, 8, 6]))
    #expect(timings.count == 10 && timings.minimum == 1 && timings.mean == 5.5)
    #expect(timings.median == 5.5)
    #expect(timings.percentile(0.9) == 9 && timings.percentile(0.99) == 10)
    #expect(timings.percentile(0) == 1 && timings.percentile(1) == 10)
  }

  @Test func oneTimeIsEverything() throws {
    let timings = try #require(Timings([3]))
    #expect(timings.median == 3 && timings.percentile(0.01) == 3 && timings.percentile(0.99) == 3)
  }

  @Test func nothingAndNoTimesAreRefused() {
    #expect(Timings([]) == nil && Timings([1, .nan]) == nil && Timings([-1]) == nil)
  }

  private func verdict(_ new: [Double], _ old: [Double]) throws -> TimingComparison {
    TimingComparison(try #require(Timings(new)), against: try #require(Timings(old)))
  }

  @Test func overlappingRangesAreTheSame() throws {
    // 10 to 12 and 11 to 13
    let comparison = try verdict([10, 11, 12, 15, 20], [11, 12, 13, 14, 30])
    #expect(comparison.verdict == .same)
    #expect(abs(comparison.ratio - 10.0 / 11) < 1e-12)
  }

  @Test func rangesApartAreADifference() throws {
    let fast = [10, 10.1, 10.2, 15, 20]
    let slow = [11, 11.1, 11.2, 11.3, 11.4]
    #expect(try verdict(fast, slow).verdict == .faster)
    #expect(try verdict(slow, fast).verdict == .slower)
  }

  @Test func lessThanTwoPercentIsTheSame() throws {
    let a = [10.00, 10.01, 10.02, 10.03, 10.04]
    #expect(try verdict(a.map { $0 * 1.019 }, a).verdict == .same)
    #expect(try verdict(a.map { $0 * 1.021 }, a).verdict == .slower)
  }

  @Test func fourRunsTellNothing() throws {
    #expect(try verdict([1, 1, 1, 1], [2, 2, 2, 2, 2]).verdict == .tooFewRuns)
  }
}
