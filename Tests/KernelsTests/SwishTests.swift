import Testing

@testable import Kernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct SwishTests {
  /// x / (1 + exp(−x)) in double precision, whose own error is far below a float's.
  private func exact(_ x: Float) -> Double { Double(x) / (1 + exp(-Double(x))) }

  /// As many values as the layer of the classic demonstration has, 6 × 256 × 256, over the range in
  /// which the function is neither 0 nor x.
  @Test(arguments: availableSets) func isWithinTwoULP(_ set: InstructionSet) {
    let count = 6 * 256 * 256
    for range in [(-103.0, 20.0), (-10, 10), (-1, 1)] {
      let step = (range.1 - range.0) / Double(count)
      let x = (0..<count).map { Float(range.0 + step * Double($0)) }
      let y = UnaryTests.apply(set.kernels, .swish, x, alpha: 1)
      var worst = (ulps: 0.0, x: Float(0))
      for (x, y) in zip(x, y) {
        let error = ulps(y, exact(x))
        if error > worst.ulps { worst = (error, x) }
      }
      #expect(worst.ulps <= 2, "\(set): \(worst.ulps) ULP at \(worst.x)")
    }
  }

  @Test(arguments: availableSets) func endsOfTheRange(_ set: InstructionSet) {
    let y = UnaryTests.apply(
      set.kernels, .swish, [0, -0.0, 20, 1e30, -1e30, .nan, -.infinity, .infinity], alpha: 1)
    #expect(y[0] == 0 && y[1] == 0 && y[2] == 20 && y[3] == 1e30 && y[4] == 0 && y[5].isNaN)
    #expect(y[6] == 0 && y[7] == .infinity)
    let turned = UnaryTests.apply(set.kernels, .swish, [1e30, -1e30, 2], alpha: -1)
    // 2 / (1 + e²)
    #expect(turned[0] == 0 && turned[1] == -1e30 && abs(turned[2] - 0.238_405_84) < 1e-7)
  }
}
