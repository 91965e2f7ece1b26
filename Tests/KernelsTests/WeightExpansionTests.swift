import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// Compressed weights of every width, format and position, compared with scalar code.
@Suite struct WeightExpansionTests {
  /// The elements of `range`, read from bytes directly before or after an inaccessible page.
  private func expand(
    _ bytes: [UInt8], _ format: CompressedFormat, _ range: Range<Int>,
    _ kernels: any KernelTable.Type,
    _ edge: GuardedBuffer.Edge, roundsToHalf: Bool = false
  ) -> [Float] {
    let padding = [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    let padded = edge == .end ? padding + bytes : bytes + padding
    let source = GuardedBuffer(
      padded.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, at: edge)
    let output = GuardedBuffer(count: range.count, at: edge)
    var arguments = ExpansionArguments(
      source: UnsafeRawPointer(source.pointer) + (edge == .end ? padding.count : 0),
      format: format, first: range.lowerBound, count: range.count, output: output.pointer)
    arguments.roundsToHalf = roundsToHalf
    kernels.expandWeights(arguments)
    return output.values
  }

  @Test(arguments: availableSets) func linearCodes(_ set: InstructionSet) {
    for bits in 1...8 {
      for count in [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100] {
        let codes = Codes(bits: bits, count: count)
        let (scale, bias): (Float, Float) = (0.013671, -1.2345)
        for first in 0..<min(count, 19) {
          for edge in GuardedBuffer.Edge.allCases {
            let found = expand(
              codes.bytes, .linear(bits: bits, scale: scale, bias: bias), first..<count,
              set.kernels, edge)
            #expect(
              found
                == codes.codes[first...].map {
                  Float(Double(scale) * Double($0) + Double(bias))
                },
              "\(set) \(bits) bits, \(first) to \(count)")
          }
        }
      }
    }
  }

  /// Normal, subnormal and infinite values in half precision, and ties between two of them.
  @Test(arguments: availableSets) func linearCodesInHalfPrecision(_ set: InstructionSet) {
    let codes = Codes(bits: 8, count: 301)
    for scale in [0.013671, 2.7e-7, 0x1p-10 + 0x1p-13, 0x1.8p-25, -0.5 - 0x1p-11, 600] as [Float] {
      let bias = -128 * scale
      for count in [1, 9, 33, 301] {
        let found = expand(
          codes.bytes, .linear(bits: 8, scale: scale, bias: bias), 0..<count, set.kernels, .end,
          roundsToHalf: true)
        let expected = codes.codes[..<count].map {
          Float(Float16(Double(scale) * Double($0) + Double(bias)))
        }
        #expect(found == expected, "\(set), scale \(scale)")
      }
    }
  }

  @Test(arguments: availableSets) func tables(_ set: InstructionSet) {
    for bits in 1...8 {
      var generator = SplitMix64(seed: UInt64(bits))
      let values = generator.values(1 << bits)
      let table = CodeTable.floats(values, bits: bits)
      for count in [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100] {
        let codes = Codes(bits: bits, count: count)
        for first in 0..<min(count, 19) {
          for edge in GuardedBuffer.Edge.allCases {
            let found = table.withUnsafeBufferPointer {
              expand(
                codes.bytes, .table(bits: bits, $0.baseAddress!), first..<count, set.kernels, edge)
            }
            #expect(
              found == codes.codes[first...].map { values[$0] },
              "\(set) \(bits) bits, \(first) to \(count)")
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func halves(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 1)
    for count in 1...67 {
      let values = generator.values(count).map { Float16($0) }
      let bytes = values.withUnsafeBytes { Array($0) }
      for first in [0, 1, count / 2, count - 1] where first < count {
        for edge in GuardedBuffer.Edge.allCases {
          let found = expand(bytes, .half, first..<count, set.kernels, edge)
          #expect(found == values[first...].map { Float($0) })
        }
      }
    }
  }
}
