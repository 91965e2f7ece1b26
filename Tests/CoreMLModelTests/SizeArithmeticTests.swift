import Testing

@testable import CoreMLModel

/// The operators that targets with documents use instead of the standard library's.
@Suite struct SizeArithmeticTests {
  // Not constants, since the compiler would reject their overflow.
  private static let sizes = [0, 1, -1, 3, 1 << 31, -1 << 31, 1 << 62, .max, -.max]

  @Test(arguments: sizes, sizes)
  func neverOverflows(_ a: Int, _ b: Int) {
    let (exact, overflow) = a.multipliedReportingOverflow(by: b)
    let isSmall = !overflow && exact.magnitude <= 1 << 60
    #expect(a * b == (isSmall ? exact : (a < 0) == (b < 0) ? 1 << 60 : -1 << 60))
    let sum = Double(a) + Double(b)
    #expect(abs(Double(a + b) - sum) <= abs(sum) / 2)
    let difference = Double(a) - Double(b)
    #expect(abs(Double(a - b) - difference) <= abs(difference) / 2)
  }

  /// Also as functions and in assignments.
  @Test func appliesEverywhere() {
    let side = 1 << 31
    let volume = [side, side, side].reduce(1, *)
    #expect(volume == 1 << 60)
    var size = Int.max
    size += 1
    #expect(size == .max)
    size *= 2
    #expect(size == 1 << 60)
    size -= .max
    size -= .max
    #expect(size < 0)
  }
}
