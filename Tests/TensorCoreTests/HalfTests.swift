import Testing

@testable import TensorCore

@Suite struct HalfTests {
  /// IEEE 754: (−1)ˢ · 2^(e−15) · (1 + m/2¹⁰), and (−1)ˢ · 2⁻¹⁴ · m/2¹⁰ for e = 0.
  private func definition(_ bits: UInt16) -> Double {
    let sign: Double = bits & 0x8000 == 0 ? 1 : -1
    let exponent = Int(bits >> 10) & 31
    let fraction = Double(bits & 1023) / 1024
    if exponent == 31 { return fraction == 0 ? sign * .infinity : .nan }
    return exponent == 0
      ? sign * fraction * 0x1p-14
      : sign * Double(sign: .plus, exponent: exponent - 15, significand: 1 + fraction)
  }

  @Test func everyHalfIsExactAndComesBack() {
    for bits in UInt16.min...UInt16.max {
      let value = Half.float(bits)
      let expected = definition(bits)
      if expected.isNaN {
        #expect(value.isNaN && Half.bits(value) == bits | 0x200)
      } else {
        #expect(Double(value) == expected && Half.bits(value) == bits)
      }
    }
  }

  @Test func roundsToNearestTiesToEven() {
    for bits in UInt16(0)..<0x7BFF {
      // The sum of two neighbors has at most 12 significant bits, so the midpoint is exact.
      let middle = (Half.float(bits) + Half.float(bits + 1)) / 2
      #expect(Half.bits(middle) == bits + (bits & 1))
      #expect(Half.bits(middle.nextDown) == bits)
      #expect(Half.bits(middle.nextUp) == bits + 1)
      #expect(Half.bits(-middle.nextUp) == (bits + 1) | 0x8000)
    }
    #expect(Half.bits(65519.996) == 0x7BFF)
    #expect(Half.bits(65520) == 0x7C00)
    #expect(Half.bits(.greatestFiniteMagnitude) == 0x7C00)
    #expect(Half.bits(-.infinity) == 0xFC00)
    #expect(Half.bits(.leastNonzeroMagnitude) == 0)
  }

  @Test func arraysConvertLikeSingleValues() {
    let bits = (0..<1001).map { UInt16($0 * 61) }
    var values = [Float](repeating: 0, count: bits.count)
    // One byte at the start, so that the halves are at odd addresses.
    let bytes: [UInt8] = [0] + bits.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    bytes.withUnsafeBytes { source in
      values.withUnsafeMutableBufferPointer {
        Half.convert(UnsafeRawBufferPointer(rebasing: source[1...]), to: $0)
      }
    }
    #expect(values.map(\.bitPattern) == bits.map { Half.float($0).bitPattern })
    var back = [UInt16](repeating: 0, count: bits.count)
    values.withUnsafeBufferPointer { source in
      back.withUnsafeMutableBufferPointer { Half.convert(source, to: $0) }
    }
    #expect(back == values.map(Half.bits))
  }
}
