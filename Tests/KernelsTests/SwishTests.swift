import LibC
import TestSupport
import Testing

@testable import Kernels

@Suite struct SwishTests {
  /// x / (1 + exp(−x)) in double precision, with an error far below a float's.
  private func exact(_ x: Float) -> Double { Double(x) / (1 + exp(-Double(x))) }

  /// As many values as in the demonstration's layer, 6 × 256 × 256, over the range in which the
  /// function is neither 0 nor x.
  ///
  /// Rounding the sum 1 + exp(−x) to a float costs half an ulp, which counts nearly double if the
  /// sum is slightly above a power of two and the quotient slightly below one. The total exceeds 2
  /// ULP only for x below −10.
  @Test(arguments: availableSets) func errorBounds(_ set: InstructionSet) {
    let count = 6 * 256 * 256
    for (range, bound) in [((-88.7, 20.0), 2.5), ((-10, 10), 2), ((-1, 1), 2)] {
      let step = (range.1 - range.0) / Double(count)
      let x = (0..<count).map { Float(range.0 + step * Double($0)) }
      let y = UnaryTests.apply(set.kernels, .swish, x, alpha: 1)
      var worst = (ulps: 0.0, x: Float(0))
      for (x, y) in zip(x, y) {
        let error = ulps(y, exact(x))
        if error > worst.ulps { worst = (error, x) }
      }
      #expect(worst.ulps <= bound, "\(set): \(worst.ulps) ULP at \(worst.x)")
    }
  }

  /// The result of an app that calls a vector library four times.
  @Test(arguments: availableSets) func equalsItsStepsToTheBit(_ set: InstructionSet) {
    let x = UnaryTests.samples(every: 20011) + (0..<100_000).map { Float($0) * 0.002 - 100 }
    for beta in [Float(1), 0.01, -1.7] {
      let y = UnaryTests.apply(set.kernels, .swish, x, alpha: beta)
      let exponentials = UnaryTests.apply(set.kernels, .exp, x.map { -beta * $0 })
      for ((x, y), e) in zip(zip(x, y), exponentials) {
        let steps = x / (1 + e)
        #expect(steps.bitPattern == y.bitPattern || steps.isNaN && y.isNaN, "\(set) \(x)")
      }
    }
  }

  @Test(arguments: availableSets) func endsOfTheRange(_ set: InstructionSet) {
    let y = UnaryTests.apply(
      set.kernels, .swish, [0, -0.0, 20, 1e30, -1e30, .nan, -.infinity, .infinity], alpha: 1)
    #expect(y[0] == 0 && y[1] == 0 && y[2] == 20 && y[3] == 1e30 && y[4] == 0 && y[5].isNaN)
    #expect(y[6].isNaN && y[7] == .infinity)
    let turned = UnaryTests.apply(set.kernels, .swish, [1e30, -1e30, 2], alpha: -1)
    // 2 / (1 + e²)
    #expect(turned[0] == 0 && turned[1] == -1e30 && abs(turned[2] - 0.238_405_84) < 1e-7)
  }
}
