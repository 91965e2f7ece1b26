import TensorCore
import Testing

@testable import ModelTransforms

struct KMeansTests {
  private func squaredError(_ values: [Float], _ table: [Float]) -> Double {
    values.reduce(0) { sum, value in
      let distance = table.map { abs(Double($0) - Double(value)) }.min() ?? 0
      return sum + distance * distance
    }
  }

  private func centers(_ values: [Float], _ count: Int) -> [Float] {
    values.withUnsafeBufferPointer { KMeans($0, count: count).centers }
  }

  /// The smallest error of all partitions of the sorted values into runs, by exhaustive search.
  private func least(_ sorted: ArraySlice<Float>, _ count: Int) -> Double {
    func own(_ run: ArraySlice<Float>) -> Double {
      let mean = run.reduce(0) { $0 + Double($1) } / Double(run.count)
      return run.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
    }
    var best = own(sorted)
    if count == 1 { return best }
    for place in 1..<max(1, sorted.count) {
      let rest = least(sorted.dropFirst(place), count - 1)
      best = min(best, own(sorted.prefix(place)) + rest)
    }
    return best
  }

  @Test(arguments: 1...40) func isTheBestOfAllDivisions(_ seed: Int) {
    var generator = SplitMix64(seed: UInt64(seed))
    let values = (0..<(3 + seed % 9)).map { _ in Float.random(in: -2...2, using: &generator) }
    for count in 1...4 {
      let found = squaredError(values, centers(values, count))
      #expect(abs(found - least(values.sorted()[...], count)) < 1e-6)
    }
  }

  @Test func fewerDifferentValuesThanCenters() {
    #expect(centers([3, -1, 3, 3, -1], 16) == [-1, 3])
    #expect(centers([0.25], 1) == [0.25])
    #expect(centers([Float](repeating: -7, count: 1000), 4) == [-7])
  }

  @Test func doesNotDependOnTheOrder() {
    var generator = SplitMix64(seed: 5)
    let values = (0..<10_000).map { _ in Float.random(in: -1...1, using: &generator) }
    #expect(centers(values, 16) == centers(values.shuffled(using: &generator), 16))
  }

  /// For many values, Lloyd's algorithm cannot improve the result. Every center is the mean of its
  /// nearest values. 256 centers start from runs of several values.
  @Test(arguments: [2, 16, 256]) func centersAreMeans(_ count: Int) {
    var generator = SplitMix64(seed: 9)
    // A sum of twelve uniformly distributed numbers is nearly normal; plus a few outliers.
    var values = (0..<20_000).map { _ in
      (0..<12).reduce(Float(-6)) { sum, _ in sum + Float.random(in: 0...1, using: &generator) }
    }
    values[17] = 40
    values[4711] = -25
    let table = centers(values, count)
    #expect(table.count == count)
    #expect(table == table.sorted())
    var sums = [Double](repeating: 0, count: count)
    var counts = sums
    var codes = [UInt8](repeating: 0, count: values.count)
    values.withUnsafeBufferPointer {
      TableCodes(table, bits: count.trailingZeroBitCount).write($0, to: &codes)
    }
    for (value, code) in zip(values, codes) {
      sums[Int(code)] += Double(value)
      counts[Int(code)] += 1
    }
    for (place, center) in table.enumerated() {
      #expect(abs(sums[place] / counts[place] - Double(center)) < 1e-5, "\(place)")
    }
  }
}
