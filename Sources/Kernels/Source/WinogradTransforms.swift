import KernelInterface

/// A line of a tile or kernel: one vector per point or tap; the rest is unused.
typealias WinogradLine = InlineArray<9, Vector>
typealias KernelLine<Arithmetic: KernelArithmetic> = InlineArray<9, Arithmetic.Lanes>

/// The precision in which kernels are transformed.
protocol KernelArithmetic {
  associatedtype Lanes: SIMD where Lanes.Scalar: BinaryFloatingPoint
  /// `a + b · factor`
  static func sum(_ a: Lanes, _ b: Lanes, times factor: Double) -> Lanes
  static func product(_ a: Lanes, _ factor: Double) -> Lanes
}

enum SinglePrecision: KernelArithmetic {
  @inline(__always)
  static func sum(_ a: Vector, _ b: Vector, times factor: Double) -> Vector {
    factor == -1 ? a - b : multiplyAdd(splat(Float(factor)), b, a)
  }
  @inline(__always)
  static func product(_ a: Vector, _ factor: Double) -> Vector { a * splat(Float(factor)) }
}

enum DoublePrecision: KernelArithmetic {
  @inline(__always)
  static func sum(_ a: SIMD8<Double>, _ b: SIMD8<Double>, times factor: Double) -> SIMD8<Double> {
    a + b * factor
  }
  @inline(__always)
  static func product(_ a: SIMD8<Double>, _ factor: Double) -> SIMD8<Double> { a * factor }
}

extension KernelArithmetic {
  @inline(__always)
  static func sum(_ a: Lanes, _ b: Lanes) -> Lanes { sum(a, b, times: 1) }
}

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
  static func weights<A: KernelArithmetic>(_ g: KernelLine<A>, _: A.Type) -> KernelLine<A>
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

/// `G g Gᵀ` for the values of `g` by tap; calls `store` for each point in row-major order.
@inline(__always)
func transformKernel<V: WinogradTransform, H: WinogradTransform, A: KernelArithmetic>(
  _: V.Type, _: H.Type, _: A.Type, _ value: (Int) -> A.Lanes, store: (A.Lanes) -> Void
) {
  // [column][row]
  var columns = InlineArray<7, KernelLine<A>> { _ in .init(repeating: .zero) }
  for x in 0..<H.taps {
    var line = KernelLine<A>(repeating: .zero)
    for y in 0..<V.taps { line[y] = value(H.taps &* y &+ x) }
    columns[x] = V.weights(line, A.self)
  }
  for y in 0..<V.points {
    var line = KernelLine<A>(repeating: .zero)
    for x in 0..<H.taps { line[x] = columns[x][y] }
    let row = H.weights(line, A.self)
    for x in 0..<H.points { store(row[x]) }
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
  static func weights<A: KernelArithmetic>(_ g: KernelLine<A>, _: A.Type) -> KernelLine<A> { g }
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
  static func weights<A: KernelArithmetic>(_ g: KernelLine<A>, _: A.Type) -> KernelLine<A> {
    let sum = A.sum(g[0], g[2])
    return [
      A.product(g[0], -1), A.product(A.sum(sum, g[1]), 0.5),
      A.product(A.sum(sum, g[1], times: -1), 0.5), g[2], .zero, .zero, .zero, .zero, .zero,
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
  static func weights<A: KernelArithmetic>(_ g: KernelLine<A>, _: A.Type) -> KernelLine<A> {
    let sum = A.sum(g[0], g[2])
    let near = A.sum(A.sum(g[0], g[1], times: 0.5), g[2], times: 0.25)
    let far = A.sum(A.sum(g[0], g[1], times: -2), g[2], times: 4)
    return [
      g[0], A.product(A.sum(sum, g[1]), 1.0 / 3),
      A.product(A.sum(g[1], sum, times: -1), 1.0 / 3), A.product(near, -16.0 / 15),
      A.product(far, 1.0 / 15), g[2], .zero, .zero, .zero,
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
  static func weights<A: KernelArithmetic>(_ g: KernelLine<A>, _: A.Type) -> KernelLine<A> {
    let sum = A.sum(g[0], g[2])
    let double = A.sum(g[0], g[2], times: 4)
    let half = A.sum(g[0], g[2], times: 0.25)
    return [
      A.product(g[0], -1), A.product(A.sum(sum, g[1]), -2.0 / 9),
      A.product(A.sum(sum, g[1], times: -1), -2.0 / 9),
      A.product(A.sum(double, g[1], times: 2), 1.0 / 90),
      A.product(A.sum(double, g[1], times: -2), 1.0 / 90),
      A.product(A.sum(half, g[1], times: 0.5), 32.0 / 45),
      A.product(A.sum(half, g[1], times: -0.5), 32.0 / 45), g[2], .zero,
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
  static func weights<A: KernelArithmetic>(_ g: KernelLine<A>, _: A.Type) -> KernelLine<A> {
    @inline(__always)
    func value(at p: Double, _ factor: Double) -> A.Lanes {
      var sum = g[6]
      for k in 0..<6 { sum = A.sum(g[5 &- k], sum, times: p) }
      return A.product(sum, factor)
    }
    return [
      A.product(g[0], 4.0 / 9),
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
