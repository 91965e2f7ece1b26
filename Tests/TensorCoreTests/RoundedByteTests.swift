import Testing

@testable import TensorCore

@Suite struct RoundedByteTests {
  @Test func roundsAndCutsOff() {
    let cases: [(Float, UInt8)] = [
      (-1, 0), (-0.4, 0), (0.4, 0), (0.499_999_97, 0), (0.5, 1), (1.5, 2), (2.5, 3), (254.6, 255),
      (255, 255), (256, 255), (.infinity, 255), (-.infinity, 0), (.nan, 0),
    ]
    for (value, byte) in cases { #expect(UInt8(rounding: value) == byte, "\(value)") }
  }
}
