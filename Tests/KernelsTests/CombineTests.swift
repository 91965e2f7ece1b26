import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct CombineTests {
  static func plain(_ function: CombiningFunction, _ values: [Double]) -> Double {
    let rest = values.dropFirst()
    return switch function {
    case .add: values.reduce(0, +)
    case .multiply: values.reduce(1, *)
    case .maximum: values.max() ?? .nan
    case .minimum: values.min() ?? .nan
    case .average: values.reduce(0, +) / Double(values.count)
    case .subtract: rest.reduce(values[0], -)
    case .divide: rest.reduce(values[0], /)
    }
  }

  @Test(arguments: availableSets) func everyFunctionCountAndTail(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 3)
    for function in CombiningFunction.allCases {
      for operandCount in 1...5 {
        for count in 1...33 {
          let values = (0..<operandCount).map { _ in generator.values(count, in: 0.5...2) }
          let buffers = values.map { GuardedBuffer($0, at: .end) }
          let output = GuardedBuffer(count: count, at: .end)
          let operands = buffers.map { CombiningOperand($0.constant) }
          operands.withUnsafeBufferPointer {
            set.kernels.combine(
              CombiningArguments(
                function: function, operands: $0.baseAddress!, operandCount: operandCount,
                output: output.pointer, count: count))
          }
          for (index, y) in output.values.enumerated() {
            let exact = Self.plain(function, values.map { Double($0[index]) })
            #expect(abs(Double(y) - exact) <= 1e-6 * max(abs(exact), 2), "\(set) \(function)")
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func broadcastOperands(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = SplitMix64(seed: 4)
    let pixels = 5
    let a = generator.values(block * pixels)
    let channel = generator.values(block)
    let pixel = generator.values(block * pixels)
    let buffers = [a, channel, pixel].map { GuardedBuffer($0, at: .end) }
    let operands = zip(buffers, [Broadcast.none, .channel, .pixel]).map {
      CombiningOperand($0.constant, $1)
    }
    let output = GuardedBuffer(count: a.count, at: .end)
    operands.withUnsafeBufferPointer {
      set.kernels.combine(
        CombiningArguments(
          function: .add, operands: $0.baseAddress!, operandCount: 3, output: output.pointer,
          count: a.count))
    }
    for (i, y) in output.values.enumerated() {
      #expect(y == a[i] + channel[i % block] + pixel[i / block * block])
    }
  }

  @Test(arguments: availableSets) func notANumberWinsAnExtremum(_ set: InstructionSet) {
    for function in [CombiningFunction.maximum, .minimum] {
      for values in [[Float.nan, 1], [1, .nan]] {
        let buffers = values.map { GuardedBuffer([$0], at: .end) }
        let output = GuardedBuffer(count: 1, at: .end)
        let operands = buffers.map { CombiningOperand($0.constant) }
        operands.withUnsafeBufferPointer {
          set.kernels.combine(
            CombiningArguments(
              function: function, operands: $0.baseAddress!, operandCount: 2,
              output: output.pointer, count: 1))
        }
        #expect(output.values[0].isNaN)
      }
    }
  }
}
