import LibC
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
    case .floorDivide: rest.reduce(values[0]) { ($0 / $1).rounded(.down) }
    case .modulo: rest.reduce(values[0]) { modulo($0, $1) }
    case .power: rest.reduce(values[0]) { pow($0, $1) }
    case .equal: rest.reduce(values[0]) { $0 == $1 ? 1 : 0 }
    case .notEqual: rest.reduce(values[0]) { $0 != $1 ? 1 : 0 }
    case .less: rest.reduce(values[0]) { $0 < $1 ? 1 : 0 }
    case .lessEqual: rest.reduce(values[0]) { $0 <= $1 ? 1 : 0 }
    case .greater: rest.reduce(values[0]) { $0 > $1 ? 1 : 0 }
    case .greaterEqual: rest.reduce(values[0]) { $0 >= $1 ? 1 : 0 }
    case .logicalAnd: rest.reduce(values[0]) { $0 != 0 && $1 != 0 ? 1 : 0 }
    case .logicalOr: rest.reduce(values[0]) { $0 != 0 || $1 != 0 ? 1 : 0 }
    case .logicalXor: rest.reduce(values[0]) { ($0 != 0) != ($1 != 0) ? 1 : 0 }
    case .choose: values[0] != 0 ? values[1] : values[2]
    }
  }

  /// The remainder of a floored division; a zero has the sign of `a`.
  private static func modulo(_ a: Double, _ b: Double) -> Double {
    let rest = fmod(a, b)
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest
  }

  private static func apply(
    _ set: InstructionSet, _ function: CombiningFunction, _ operands: [(GuardedBuffer, Broadcast)],
    _ count: Int
  ) -> [Float] {
    let output = GuardedBuffer(count: count, at: .end)
    operands.map { CombiningOperand($0.0.constant, $0.1) }.withUnsafeBufferPointer {
      set.kernels.combine(
        CombiningArguments(
          function: function, operands: $0.baseAddress!, operandCount: operands.count,
          output: output.pointer, count: count))
    }
    return output.values
  }

  /// Error bounds in ULP for pairs of all magnitudes, of small integers and of halves.
  @Test(arguments: availableSets) func errorBounds(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 6)
    var pairs: [(Float, Float)] = []
    for index in 0..<300_000 {
      let bits = generator.next()
      let (a, b) = (
        Float(bitPattern: UInt32(bits >> 32)), Float(bitPattern: UInt32(bits & 0xffff_ffff))
      )
      switch index % 4 {
      case 0: pairs.append((a, b))
      case 1: pairs.append((Float(bits % 41) - 20, Float(bits >> 20 % 41) - 20))
      case 2: pairs.append((Float(bits % 2001) / 100, Float(bits >> 30 % 1999) / 50 - 20))
      default:
        pairs.append(
          (
            Float(sign: .plus, exponent: Int(bits % 40), significand: 1 + abs(a.significand - 1)),
            b.significand - 3
          ))
      }
    }
    let special: [Float] = [
      0, -0.0, 1, -1, .infinity, -.infinity, .nan, 0.5, 2, 3, -2, -3, 0x1p23, 0x1p24 - 1, -0x1p24,
      .leastNonzeroMagnitude,
    ]
    for a in special { for b in special { pairs.append((a, b)) } }
    let first = GuardedBuffer(pairs.map(\.0), at: .end)
    let second = GuardedBuffer(pairs.map(\.1), at: .end)
    for function in CombiningFunction.allCases where function != .choose {
      let isExtremum = function == .maximum || function == .minimum
      let bound: Double =
        switch function {
        case .power: 2
        case .floorDivide: 1
        default: 0.51
        }
      let result = Self.apply(set, function, [(first, .none), (second, .none)], pairs.count)
      var worst = (0.0, (Float(0), Float(0)))
      for ((a, b), y) in zip(pairs, result) where !(isExtremum && (a.isNaN || b.isNaN)) {
        let exact = Self.plain(function, [Double(a), Double(b)])
        let error = function == .average && (a + b).isInfinite ? 0 : ulps(y, exact)
        if error > worst.0 { worst = (error, (a, b)) }
      }
      #expect(worst.0 <= bound, "\(set) \(function) \(worst)")
    }
  }

  @Test(arguments: availableSets) func oneValueForAll(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 7)
    for count in 1...33 {
      let x = generator.values(count)
      let buffers = [GuardedBuffer(x, at: .end), GuardedBuffer([0.25], at: .end)]
      let left = Self.apply(set, .subtract, [(buffers[0], .none), (buffers[1], .all)], count)
      #expect(left == x.map { $0 - 0.25 })
      let right = Self.apply(set, .less, [(buffers[1], .all), (buffers[0], .none)], count)
      #expect(right == x.map { 0.25 < $0 ? 1 : 0 })
      let chosen = Self.apply(
        set, .choose,
        [(GuardedBuffer(right, at: .end), .none), (buffers[0], .none), (buffers[1], .all)],
        count)
      #expect(chosen == x.map { max($0, 0.25) })
    }
  }

  @Test(arguments: availableSets) func everyFunctionCountAndTail(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 3)
    for function in CombiningFunction.allCases {
      for operandCount in function == .choose ? 3...3 : 1...5 {
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
