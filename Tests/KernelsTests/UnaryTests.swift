import LibC
import TensorCore
import TestSupport
import Testing

@testable import Kernels

private func plain(_ function: UnaryFunction, _ x: Double, _ a: Double, _ b: Double) -> Double {
  func elu(_ x: Double) -> Double { x < 0 ? a * expm1(x) : x }
  return switch function {
  case .linear: a * x + b
  case .linearRelu: a * x + b < 0 ? 0 : a * x + b
  case .relu: x < 0 ? 0 : x
  case .leaky: x < 0 ? a * x : x
  case .thresholdedRelu: x < a ? 0 : x
  case .threshold: x < a ? a : x
  case .clip: x < a ? a : x > b ? b : x
  case .hardSigmoid: (a * x + b).isNaN ? .nan : min(max(a * x + b, 0), 1)
  case .clampedRelu: x.isNaN ? x : min(x < 0 ? a * x : x, b)
  case .abs: abs(x)
  case .sign: x > 0 ? 1 : x < 0 ? -1 : x
  case .floor: x.rounded(.down)
  case .ceil: x.rounded(.up)
  case .round: x.rounded(.toNearestOrEven)
  case .square: x * x
  case .sqrt: x.squareRoot()
  case .rsqrt: 1 / (x + a).squareRoot()
  case .inverse: 1 / (x + a)
  case .power: pow(x, a)
  case .exp: exp(x)
  case .exp2: exp2(x)
  case .expm1: expm1(x)
  case .log: log(x)
  case .log1p: log1p(x)
  case .sin: sin(x)
  case .cos: cos(x)
  case .tan: tan(x)
  case .asin: asin(x)
  case .acos: acos(x)
  case .atan: atan(x)
  case .sinh: sinh(x)
  case .cosh: cosh(x)
  case .asinh: asinh(x)
  case .acosh: acosh(x)
  case .atanh: atanh(x)
  case .erf: erf(x)
  case .tanh: tanh(x)
  case .scaledTanh: a * tanh(b * x)
  case .sigmoid: 1 / (1 + exp(-x))
  case .softplus: log1p(exp(x)).isInfinite ? x : x > 30 ? x + exp(-x) : log1p(exp(x))
  case .parametricSoftplus: a * plain(.softplus, b * x, 0, 0)
  case .softsign: x.isInfinite ? .nan : x / (1 + abs(x))
  case .elu: elu(x)
  case .scaledElu: b * elu(x)
  case .swish: x / (1 + exp(-a * x))
  case .hardSwish: (a * x + b).isNaN ? .nan : x * min(max(a * x + b, 0), 1)
  case .mish: x * tanh(plain(.softplus, x, 0, 0))
  case .gelu: x / 2 * erfc(-x / 2.0.squareRoot())
  case .tanhGelu: x / (1 + exp(-(8 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
  }
}

@Suite struct UnaryTests {
  static func apply(
    _ kernels: any KernelTable.Type, _ function: UnaryFunction, _ x: [Float], alpha: Float = 0,
    beta: Float = 0, scale: Float = 1, shift: Float = 0
  ) -> [Float] {
    let input = GuardedBuffer(x, at: .end)
    let output = GuardedBuffer(count: x.count, at: .begin)
    kernels.unary(
      UnaryArguments(
        function: function, input: input.constant, output: output.pointer, count: x.count,
        .init(alpha: alpha, beta: beta, scale: scale, shift: shift)))
    return output.values
  }

  /// Every `step`-th bit pattern of all finite floats of both signs.
  static func samples(every step: UInt32) -> [Float] {
    var result: [Float] = [0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude]
    var bits: UInt32 = 0
    while bits < 0x7f80_0000 {
      result.append(Float(bitPattern: bits))
      result.append(-Float(bitPattern: bits))
      bits += step
    }
    return result
  }

  /// Error bounds in ULP of the result, over the whole range of floats.
  static let bounds: [(UnaryFunction, Double)] = [
    (.exp, 2), (.log, 2), (.tanh, 2), (.sigmoid, 2.1), (.softplus, 2), (.sqrt, 0.51),
    (.square, 0.51),
    (.sign, 0), (.floor, 0), (.ceil, 0), (.round, 0), (.exp2, 2), (.expm1, 2), (.log1p, 2),
    (.sin, 2), (.cos, 2), (.tan, 2), (.asin, 2), (.acos, 2), (.atan, 2), (.sinh, 2), (.cosh, 2),
    (.asinh, 2), (.acosh, 2), (.atanh, 2), (.erf, 2), (.softsign, 2), (.mish, 2.5), (.gelu, 2.5),
    (.tanhGelu, 2.2),
  ]

  @Test(arguments: availableSets) func errorBounds(_ set: InstructionSet) {
    let whole = Self.samples(every: 20011)
    // The ranges in which the functions are not trivial.
    let near = (0..<400_000).map { -110 + Float($0) * 0.000_55 }
    let tiny = (0..<200_000).map { -1 + Float($0) * 0.000_01 }
    let x = whole + near + tiny
    for (function, bound) in Self.bounds {
      var worst = (0.0, Float(0))
      for (x, y) in zip(x, Self.apply(set.kernels, function, x)) {
        let error = ulps(y, plain(function, Double(x), 0, 0))
        if error > worst.0 { worst = (error, x) }
      }
      // These two rely on the rounding errors of fused multiply-add.
      let isFused = set != .baseline || ![.mish, .gelu].contains(function)
      #expect(
        worst.0 <= bound + (isFused ? 0 : 1), "\(set) \(function): \(worst.0) ULP at \(worst.1)")
    }
    let elu = Self.apply(set.kernels, .elu, x, alpha: 1)
    for (x, y) in zip(x, elu) {
      let error = ulps(y, plain(.elu, Double(x), 1, 0))
      if !(error <= 2) {
        Issue.record("\(set) elu: \(error) ULP at \(x): \(y)")
        break
      }
    }
  }

  /// Double precision determines the signs of zeros and infinities, as in IEEE 754 and C.
  @Test(arguments: availableSets) func signsOfZerosAndInfinities(_ set: InstructionSet) {
    let x: [Float] = [
      0, -0.0, .infinity, -.infinity, 1, -1, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      0.25, -0.25, 0.5, -0.5, 1.5, -1.5, 2.5, 0x1p23, -0x1p23, 0x1.8p22, .greatestFiniteMagnitude,
    ]
    for (function, _) in Self.bounds where ![.softplus, .sigmoid].contains(function) {
      for (x, y) in zip(x, Self.apply(set.kernels, function, x)) {
        let exact = Float(plain(function, Double(x), 0, 0))
        #expect(
          y.isNaN == exact.isNaN
            && (y.isNaN || y.sign == exact.sign && ulps(y, Double(exact)) <= 3),
          "\(set) \(function) \(x): \(y), not \(exact)")
      }
    }
  }

  /// Arguments near multiples of π/2, where cancellation is large, up to the range that the C
  /// library handles and beyond.
  @Test(arguments: availableSets) func anglesNearZerosAndPoles(_ set: InstructionSet) {
    let x = (1...400_000).flatMap { n -> [Float] in
      let x = Float(Double(n * 3) * .pi / 2)
      return [x, -x.nextUp, x.nextDown]
    }
    for function in [UnaryFunction.sin, .cos, .tan] {
      var worst = (0.0, Float(0))
      for (x, y) in zip(x, Self.apply(set.kernels, function, x)) {
        let error = ulps(y, plain(function, Double(x), 0, 0))
        if error > worst.0 { worst = (error, x) }
      }
      #expect(worst.0 <= 2, "\(set) \(function): \(worst.0) ULP at \(worst.1)")
    }
  }

  @Test(arguments: availableSets) func specialValues(_ set: InstructionSet) {
    func value(_ function: UnaryFunction, _ x: Float, _ alpha: Float = 0) -> Float {
      Self.apply(set.kernels, function, [x], alpha: alpha)[0]
    }
    #expect(value(.exp, 0) == 1)
    // The logarithm of the largest float is 88.722839.
    #expect(value(.exp, 88.7228) < .infinity && value(.exp, 88.7229) == .infinity)
    #expect(value(.exp, .infinity) == .infinity && value(.exp, -.infinity) == 0)
    #expect(value(.exp, -103.9) == .leastNonzeroMagnitude && value(.exp, -104) == 0)
    #expect(value(.log, 1) == 0 && value(.log, 0) == -.infinity && value(.log, -0.0) == -.infinity)
    #expect(value(.log, -1).isNaN && value(.log, -.infinity).isNaN)
    #expect(value(.log, .infinity) == .infinity)
    #expect(value(.tanh, -0.0).sign == .minus && value(.tanh, 20) == 1 && value(.tanh, -90) == -1)
    #expect(value(.sigmoid, -.infinity) == 0 && value(.sigmoid, .infinity) == 1)
    #expect(value(.softplus, 200) == 200 && value(.softplus, -.infinity) == 0)
    for function in UnaryFunction.allCases {
      #expect(value(function, .nan, 2).isNaN, "\(set) \(function)")
    }
    #expect(
      value(.power, -2, 3) == -8 && value(.power, -8, 1 / 3).isNaN && value(.power, 0, 0) == 1)
    #expect(value(.power, 0, -1) == .infinity && value(.power, 2, -0.5) == Float(0.5).squareRoot())
  }

  @Test(arguments: availableSets) func everyFunctionAndTail(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 5)
    for function in UnaryFunction.allCases {
      let positive: Set<UnaryFunction> = [.sqrt, .rsqrt, .inverse, .log, .log1p, .power]
      let range: ClosedRange<Float> =
        switch function {
        case .asin, .acos, .atanh: -0.99...0.99
        case .acosh: 1...8
        default: positive.contains(function) ? 0.25...8 : -6...6
        }
      let all = generator.values(70, in: range)
      for (alpha, beta) in [(Float(0.7), Float(1.3)), (0.3, 0.9)] {
        let reference = Self.apply(set.kernels, function, all, alpha: alpha, beta: beta)
        for (x, y) in zip(all, reference) {
          let exact = plain(function, Double(x), Double(alpha), Double(beta))
          // If αx + β cancels, its rounding error scales with x.
          let scale = max(abs(exact), function == .hardSwish ? abs(Double(x)) : 0.2)
          #expect(abs(Double(y) - exact) <= 4e-7 * scale, "\(set) \(function) \(x)")
        }
        for count in 1...33 {
          for start in [0, 1, 7] {
            let part = Array(all[start..<start + count])
            let found = Self.apply(set.kernels, function, part, alpha: alpha, beta: beta)
            #expect(
              found.map(\.bitPattern) == reference[start..<start + count].map(\.bitPattern),
              "\(set) \(function) \(start) \(count)")
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func powers(_ set: InstructionSet) {
    let x: [Float] = [-3, -1.5, -0.1, 0.001, 0.3, 1, 1.7, 12, 4000, 1e10, 1e-30]
    for exponent in [Float(-2), -1, -0.75, -0.5, 0, 0.5, 0.75, 1, 1.3, 2, 2.5, 3, 5] {
      for (x, y) in zip(x, Self.apply(set.kernels, .power, x, alpha: exponent)) {
        let error = ulps(y, pow(Double(x), Double(exponent)))
        #expect(error <= 2, "\(set) \(x)^\(exponent): \(y)")
      }
    }
    let samples = Self.samples(every: 20011)
    for exponent: Float in [0.1, -0.33, 1.7, 2.2, 7, -11, 40.5, -Float.infinity] {
      var worst = (0.0, Float(0))
      for (x, y) in zip(samples, Self.apply(set.kernels, .power, samples, alpha: exponent)) {
        let error = ulps(y, pow(Double(x), Double(exponent)))
        if error > worst.0 { worst = (error, x) }
      }
      #expect(worst.0 <= 2, "\(set) \(worst.1)^\(exponent): \(worst.0) ULP")
    }
  }

  @Test(arguments: availableSets) func scaleAndShiftComeFirst(_ set: InstructionSet) {
    let x: [Float] = [-1, 0, 0.5, 3]
    let y = Self.apply(set.kernels, .exp, x, scale: 2, shift: -1)
    for (x, y) in zip(x, y) { #expect(ulps(y, exp(2 * Double(x) - 1)) <= 2) }
  }

  @Test(arguments: availableSets) func parametersOfChannels(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = SplitMix64(seed: 9)
    let x = generator.values(block * 5)
    let alpha = generator.values(block)
    let beta = generator.values(block)
    let input = GuardedBuffer(x, at: .end)
    let a = GuardedBuffer(alpha, at: .end)
    let b = GuardedBuffer(beta, at: .begin)
    for function in [UnaryFunction.linear, .leaky, .swish, .parametricSoftplus, .power] {
      let output = GuardedBuffer(count: x.count, at: .end)
      set.kernels.unary(
        UnaryArguments(
          function: function, input: input.constant, output: output.pointer, count: x.count,
          .init(channelAlpha: a.constant, channelBeta: b.constant)))
      for (index, y) in output.values.enumerated() {
        let exact = plain(
          function, Double(x[index]), Double(alpha[index % block]), Double(beta[index % block]))
        #expect(
          exact.isNaN ? y.isNaN : abs(Double(y) - exact) <= 1e-6 * max(abs(exact), 0.2),
          "\(set) \(function) \(index)")
      }
    }
  }

  @Test(arguments: availableSets) func inPlace(_ set: InstructionSet) {
    let x = (0..<37).map { Float($0) - 18 }
    let buffer = GuardedBuffer(x, at: .end)
    set.kernels.unary(
      UnaryArguments(
        function: .relu, input: buffer.constant, output: buffer.pointer, count: x.count))
    #expect(buffer.values == x.map { max($0, 0) })
  }
}
