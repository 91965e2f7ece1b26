import KernelInterface

/// A line of a tile or kernel: one vector per point or tap; the rest is unused.
typealias WinogradLine = InlineArray<9, Vector>
typealias WinogradWeights = SIMD8<Double>
typealias WinogradWeightLine = InlineArray<9, WinogradWeights>

/// The transforms of lines of tiles for F(m, r); see `WinogradForm`.
protocol TileTransform {
  static var outputs: Int { get }
  static var taps: Int { get }
  /// `Bᵀ d`
  static func input(_ d: WinogradLine) -> WinogradLine
  /// `Aᵀ m`
  static func output(_ m: WinogradLine) -> WinogradLine
}

/// Includes the transforms of weights.
protocol WinogradTransform: TileTransform {
  /// `G g`
  static func weights(_ g: WinogradWeightLine) -> WinogradWeightLine
  /// `G g` in single precision
  static func weights(_ g: WinogradLine) -> WinogradLine
}

extension TileTransform {
  @inline(__always)
  static var points: Int { outputs &+ taps &- 1 }
}

/// Work that is the same for each form, given the transforms of its axes.
protocol WinogradTask {
  func run<V: WinogradTransform, H: WinogradTransform>(_ vertical: V.Type, _ horizontal: H.Type)
}

extension WinogradForm {
  @inline(__always)
  func perform(_ task: some WinogradTask) {
    switch self {
    case .two: task.run(Winograd2.self, Winograd2.self)
    case .four: task.run(Winograd4.self, Winograd4.self)
    case .six: task.run(Winograd6.self, Winograd6.self)
    case .rowOfFour: task.run(WinogradIdentity.self, Winograd4.self)
    case .columnOfFour: task.run(Winograd4.self, WinogradIdentity.self)
    case .rowOfThree: task.run(WinogradIdentity.self, Winograd3Of7.self)
    case .columnOfThree: task.run(Winograd3Of7.self, WinogradIdentity.self)
    }
  }
}

/// F(1, 1)
enum WinogradIdentity: WinogradTransform {
  @inline(__always)
  static var outputs: Int { 1 }
  @inline(__always)
  static var taps: Int { 1 }

  @inline(__always)
  static func input(_ d: WinogradLine) -> WinogradLine { d }
  @inline(__always)
  static func weights(_ g: WinogradWeightLine) -> WinogradWeightLine { g }
  @inline(__always)
  static func weights(_ g: WinogradLine) -> WinogradLine { g }
  @inline(__always)
  static func output(_ m: WinogradLine) -> WinogradLine { m }
}

enum Winograd2: WinogradTransform {
  @inline(__always)
  static var outputs: Int { 2 }
  @inline(__always)
  static var taps: Int { 3 }

  @inline(__always)
  static func input(_ d: WinogradLine) -> WinogradLine {
    [d[2] - d[0], d[1] + d[2], d[2] - d[1], d[3] - d[1], .zero, .zero, .zero, .zero, .zero]
  }

  @inline(__always)
  static func weights(_ g: WinogradWeightLine) -> WinogradWeightLine {
    let sum = g[0] + g[2]
    return [-g[0], (sum + g[1]) * 0.5, (sum - g[1]) * 0.5, g[2], .zero, .zero, .zero, .zero, .zero]
  }

  @inline(__always)
  static func weights(_ g: WinogradLine) -> WinogradLine {
    let sum = g[0] + g[2]
    let half = splat(0.5)
    return [
      -g[0], (sum + g[1]) * half, (sum - g[1]) * half, g[2], .zero, .zero, .zero, .zero, .zero,
    ]
  }

  @inline(__always)
  static func output(_ m: WinogradLine) -> WinogradLine {
    [
      m[0] + (m[1] + m[2]), (m[1] - m[2]) + m[3], .zero, .zero, .zero, .zero, .zero, .zero,
      .zero,
    ]
  }
}

enum Winograd4: WinogradTransform {
  @inline(__always)
  static var outputs: Int { 4 }
  @inline(__always)
  static var taps: Int { 3 }

  @inline(__always)
  static func input(_ d: WinogradLine) -> WinogradLine {
    let odd = d[3] - d[1]
    let even = d[4] - d[2]
    let threeHalves = splat(1.5)
    return [
      multiplyAdd(threeHalves, odd, (d[0] - d[2]) + even),
      multiplyAdd(threeHalves, d[3] + d[2], even + odd),
      multiplyAdd(threeHalves, d[3] - d[2], even - odd),
      multiplyAdd(splat(2), odd, even),
      multiplyAdd(splat(-0.5), odd, even),
      multiplyAdd(threeHalves, even, (d[5] - d[3]) - odd),
      .zero, .zero, .zero,
    ]
  }

  @inline(__always)
  static func weights(_ g: WinogradWeightLine) -> WinogradWeightLine {
    let sum = g[0] + g[2]
    return [
      g[0],
      (sum + g[1]) * (1.0 / 3),
      (g[1] - sum) * (1.0 / 3),
      (g[0] + 0.5 * g[1] + 0.25 * g[2]) * (-16.0 / 15),
      (g[0] - 2 * g[1] + 4 * g[2]) * (1.0 / 15),
      g[2],
      .zero, .zero, .zero,
    ]
  }

  @inline(__always)
  static func weights(_ g: WinogradLine) -> WinogradLine {
    let sum = g[0] + g[2]
    let third = splat(1.0 / 3)
    let near = multiplyAdd(splat(0.25), g[2], multiplyAdd(splat(0.5), g[1], g[0]))
    let far = multiplyAdd(splat(4), g[2], multiplyAdd(splat(-2), g[1], g[0]))
    return [
      g[0], (sum + g[1]) * third, (g[1] - sum) * third, near * splat(-16.0 / 15),
      far * splat(1.0 / 15), g[2], .zero, .zero, .zero,
    ]
  }

  @inline(__always)
  static func output(_ m: WinogradLine) -> WinogradLine {
    let sum = m[1] + m[2]
    let difference = m[1] - m[2]
    return [
      (m[0] + sum) + (m[3] + m[4]),
      multiplyAdd(splat(-2), m[4], multiplyAdd(splat(0.5), m[3], difference)),
      multiplyAdd(splat(4), m[4], multiplyAdd(splat(0.25), m[3], sum)),
      multiplyAdd(splat(-8), m[4], multiplyAdd(splat(0.125), m[3], difference + m[5])),
      .zero, .zero, .zero, .zero, .zero,
    ]
  }
}

enum Winograd6: WinogradTransform {
  @inline(__always)
  static var outputs: Int { 6 }
  @inline(__always)
  static var taps: Int { 3 }

  @inline(__always)
  static func input(_ d: WinogradLine) -> WinogradLine {
    let even1 = multiplyAdd(splat(-4.25), d[4], d[2] + d[6])
    let odd1 = multiplyAdd(splat(-4.25), d[3], d[1] + d[5])
    let even2 = multiplyAdd(splat(-1.25), d[4], multiplyAdd(splat(0.25), d[2], d[6]))
    let odd2 = multiplyAdd(
      splat(2), d[5], multiplyAdd(splat(-2.5), d[3], splat(0.5) * d[1]))
    let even3 = multiplyAdd(splat(-5), d[4], multiplyAdd(splat(4), d[2], d[6]))
    let odd3 = multiplyAdd(
      splat(0.5), d[5], multiplyAdd(splat(-2.5), d[3], splat(2) * d[1]))
    return [
      multiplyAdd(splat(5.25), d[2] - d[4], d[6] - d[0]),
      even1 + odd1, even1 - odd1,
      even2 + odd2, even2 - odd2,
      even3 + odd3, even3 - odd3,
      multiplyAdd(splat(5.25), d[3] - d[5], d[7] - d[1]),
      .zero,
    ]
  }

  @inline(__always)
  static func weights(_ g: WinogradWeightLine) -> WinogradWeightLine {
    let sum = g[0] + g[2]
    let double = g[0] + 4 * g[2]
    let half = g[0] + 0.25 * g[2]
    return [
      -g[0],
      (sum + g[1]) * (-2.0 / 9),
      (sum - g[1]) * (-2.0 / 9),
      (double + 2 * g[1]) * (1.0 / 90),
      (double - 2 * g[1]) * (1.0 / 90),
      (half + 0.5 * g[1]) * (32.0 / 45),
      (half - 0.5 * g[1]) * (32.0 / 45),
      g[2], .zero,
    ]
  }

  @inline(__always)
  static func weights(_ g: WinogradLine) -> WinogradLine {
    let sum = g[0] + g[2]
    let double = multiplyAdd(splat(4), g[2], g[0])
    let half = multiplyAdd(splat(0.25), g[2], g[0])
    return [
      -g[0], (sum + g[1]) * splat(-2.0 / 9), (sum - g[1]) * splat(-2.0 / 9),
      multiplyAdd(splat(2), g[1], double) * splat(1.0 / 90),
      multiplyAdd(splat(-2), g[1], double) * splat(1.0 / 90),
      multiplyAdd(splat(0.5), g[1], half) * splat(32.0 / 45),
      multiplyAdd(splat(-0.5), g[1], half) * splat(32.0 / 45), g[2], .zero,
    ]
  }

  @inline(__always)
  static func output(_ m: WinogradLine) -> WinogradLine {
    let sum1 = m[1] + m[2]
    let difference1 = m[1] - m[2]
    let sum2 = m[3] + m[4]
    let difference2 = m[3] - m[4]
    let sum3 = m[5] + m[6]
    let difference3 = m[5] - m[6]
    return [
      (m[0] + sum1) + (sum2 + sum3),
      multiplyAdd(splat(0.5), difference3, multiplyAdd(splat(2), difference2, difference1)),
      multiplyAdd(splat(0.25), sum3, multiplyAdd(splat(4), sum2, sum1)),
      multiplyAdd(splat(0.125), difference3, multiplyAdd(splat(8), difference2, difference1)),
      multiplyAdd(splat(0.0625), sum3, multiplyAdd(splat(16), sum2, sum1)),
      multiplyAdd(
        splat(0.03125), difference3, multiplyAdd(splat(32), difference2, difference1 + m[7])),
      .zero, .zero, .zero,
    ]
  }
}

/// F(3, 7)
enum Winograd3Of7: WinogradTransform {
  @inline(__always)
  static var outputs: Int { 3 }
  @inline(__always)
  static var taps: Int { 7 }

  /// `u` is the line with the factor x − 4 divided out; the values at ±p are the sum and the
  /// difference of its even and odd parts.
  @inline(__always)
  static func input(_ d: WinogradLine) -> WinogradLine {
    var u = WinogradLine(repeating: .zero)
    for k in 0..<8 { u[k] = multiplyAdd(splat(-4), d[k], d[k &+ 1]) }
    let even1 = multiplyAdd(splat(0.5625), u[2], multiplyAdd(splat(-2.5), u[4], u[6]))
    let odd1 = multiplyAdd(splat(0.5625), u[1], multiplyAdd(splat(-2.5), u[3], u[5]))
    let even2 = multiplyAdd(splat(0.25), u[2], multiplyAdd(splat(-1.25), u[4], u[6]))
    let odd2 = multiplyAdd(
      splat(0.375), u[1], multiplyAdd(splat(-1.875), u[3], splat(1.5) * u[5]))
    let even3 = multiplyAdd(splat(2.25), u[2], multiplyAdd(splat(-3.25), u[4], u[6]))
    let odd3 = multiplyAdd(
      splat(1.125), u[1], multiplyAdd(splat(-1.625), u[3], splat(0.5) * u[5]))
    return [
      sextic(u[0], u[2], u[4], u[6]),
      even1 + odd1, even1 - odd1,
      even2 + odd2, even2 - odd2,
      even3 + odd3, even3 - odd3,
      sextic(d[1], d[3], d[5], d[7]),
      sextic(u[1], u[3], u[5], u[7]),
    ]
  }

  /// Applies the coefficients of (x² − 1) (x² − 9/4) (x² − 1/4).
  @inline(__always)
  private static func sextic(_ a: Vector, _ b: Vector, _ c: Vector, _ d: Vector) -> Vector {
    multiplyAdd(
      splat(-0.5625), a, multiplyAdd(splat(3.0625), b, multiplyAdd(splat(-3.5), c, d)))
  }

  @inline(__always)
  static func weights(_ g: WinogradWeightLine) -> WinogradWeightLine {
    func value(at p: Double, _ factor: Double) -> WinogradWeights {
      var sum = g[6]
      for k in 0..<6 { sum = sum * p + g[5 &- k] }
      return sum * factor
    }
    return [
      g[0] * (4.0 / 9),
      value(at: 1, 8.0 / 45), value(at: -1, 8.0 / 75),
      value(at: 1.5, -8.0 / 225), value(at: -1.5, -8.0 / 495),
      value(at: 0.5, -8.0 / 21), value(at: -0.5, -8.0 / 27),
      value(at: 4, 4.0 / 51975),
      g[6],
    ]
  }

  @inline(__always)
  static func weights(_ g: WinogradLine) -> WinogradLine {
    func value(at p: Float, _ factor: Float) -> Vector {
      var sum = g[6]
      for k in 0..<6 { sum = multiplyAdd(splat(p), sum, g[5 &- k]) }
      return sum * splat(factor)
    }
    return [
      g[0] * splat(4.0 / 9),
      value(at: 1, 8.0 / 45), value(at: -1, 8.0 / 75),
      value(at: 1.5, -8.0 / 225), value(at: -1.5, -8.0 / 495),
      value(at: 0.5, -8.0 / 21), value(at: -0.5, -8.0 / 27),
      value(at: 4, 4.0 / 51975),
      g[6],
    ]
  }

  @inline(__always)
  static func output(_ m: WinogradLine) -> WinogradLine {
    let sum1 = m[1] + m[2]
    let difference1 = m[1] - m[2]
    let sum2 = m[3] + m[4]
    let difference2 = m[3] - m[4]
    let sum3 = m[5] + m[6]
    let difference3 = m[5] - m[6]
    return [
      (m[0] + sum1) + (sum2 + sum3) + m[7],
      multiplyAdd(
        splat(4), m[7],
        multiplyAdd(splat(0.5), difference3, multiplyAdd(splat(1.5), difference2, difference1))),
      multiplyAdd(
        splat(16), m[7],
        multiplyAdd(splat(0.25), sum3, multiplyAdd(splat(2.25), sum2, sum1 + m[8]))),
      .zero, .zero, .zero, .zero, .zero, .zero,
    ]
  }
}
