import Testing

@testable import TensorCore

@Suite struct NotFiniteTests {
  @Test func everyHalf() {
    let halves = Array(UInt16.min...UInt16.max)
    let counts = halves.map { half in
      withUnsafeBytes(of: half) { NotFinite.count(halves: $0) }
    }
    // IEEE 754: an exponent of 31 means NaN or infinity.
    #expect(counts == halves.map { $0 >> 10 & 31 == 31 ? 1 : 0 })
    #expect(halves.withUnsafeBytes { NotFinite.count(halves: $0) } == 2 * 1024)
  }

  @Test func floatsAtTheLimits() {
    let finite: [Float] = [
      0, -0.0, 1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
    ]
    let others: [Float] = [.infinity, -.infinity, .nan, -.nan, .signalingNaN]
    #expect(FloatValues(finite).countNotFinite == 0)
    #expect(FloatValues(finite + others + finite).countNotFinite == others.count)
  }

  /// More than a block of each kind, in a different order than in memory.
  @Test func countsWhereTheyLie() {
    let many = [Float](repeating: .nan, count: 100_000) + [1, 2]
    let values = FloatValues(many)
    #expect(values.countNotFinite == 100_000)
    #expect(values.shaped([2, 50_001]).transposed([1, 0]).countNotFinite == 100_000)
    #expect(FloatValues(repeating: .infinity, shape: [3, 4]).countNotFinite == 12)
    #expect(FloatValues(repeating: 0, shape: [3, 4]).countNotFinite == 0)
    #expect(FloatValues(repeating: .nan, shape: [3, 0]).countNotFinite == 0)
    // On both sides of the boundary between blocks, and at the end.
    let places = [0, (1 << 20) - 1, 1 << 20, (1 << 20) + 4]
    var long = [Float](repeating: 1, count: (1 << 20) + 5)
    for place in places { long[place] = .infinity }
    #expect(FloatValues(long).countNotFinite == places.count)
    // Not aligned for floats.
    var bytes: [UInt8] = [0xFF]
    for value in [Float.nan, 1, .infinity] { withUnsafeBytes(of: value) { bytes += $0 } }
    #expect(FloatValues(bytes: Bytes(bytes)[1..<13]).countNotFinite == 2)
  }
}
