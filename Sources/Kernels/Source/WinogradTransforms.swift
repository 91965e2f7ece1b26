/// A line of a tile: `size + 2` vectors, the rest unused.
typealias WinogradLine = InlineArray<8, Vector>
typealias WinogradWeights = SIMD8<Double>
typealias WinogradWeightLine = InlineArray<8, WinogradWeights>

/// The transforms of lines for one size of tile; see `WinogradTiles`.
protocol WinogradTransform {
  static var size: Int { get }
  /// `Bᵀ d`
  static func input(_ d: WinogradLine) -> WinogradLine
  /// `G g`
  static func weights(_ g: InlineArray<3, WinogradWeights>) -> WinogradWeightLine
  /// `G g` in single precision
  static func weights(_ g: InlineArray<3, Vector>) -> WinogradLine
  /// `Aᵀ m`
  static func output(_ m: WinogradLine) -> WinogradLine
}

extension WinogradTransform {
  /// Points along one axis.
  static var edge: Int {
    @inline(__always) get { size &+ 2 }
  }
  static var points: Int {
    @inline(__always) get { edge &* edge }
  }
}

enum Winograd2: WinogradTransform {
  static var size: Int {
    @inline(__always) get { 2 }
  }

  @inline(__always)
  static func input(_ d: WinogradLine) -> WinogradLine {
    [d[2] - d[0], d[1] + d[2], d[2] - d[1], d[3] - d[1], .zero, .zero, .zero, .zero]
  }

  @inline(__always)
  static func weights(_ g: InlineArray<3, WinogradWeights>) -> WinogradWeightLine {
    let sum = g[0] + g[2]
    return [
      -g[0], (sum + g[1]) * 0.5, (sum - g[1]) * 0.5, g[2], .zero, .zero, .zero, .zero,
    ]
  }

  @inline(__always)
  static func weights(_ g: InlineArray<3, Vector>) -> WinogradLine {
    let sum = g[0] + g[2]
    let half = splat(0.5)
    return [
      -g[0], (sum + g[1]) * half, (sum - g[1]) * half, g[2], .zero, .zero, .zero, .zero,
    ]
  }

  @inline(__always)
  static func output(_ m: WinogradLine) -> WinogradLine {
    [
      m[0] + (m[1] + m[2]), (m[1] - m[2]) + m[3], .zero, .zero, .zero, .zero, .zero, .zero,
    ]
  }
}

enum Winograd4: WinogradTransform {
  static var size: Int {
    @inline(__always) get { 4 }
  }

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
      .zero, .zero,
    ]
  }

  @inline(__always)
  static func weights(_ g: InlineArray<3, WinogradWeights>) -> WinogradWeightLine {
    let sum = g[0] + g[2]
    return [
      g[0],
      (sum + g[1]) * (1.0 / 3),
      (g[1] - sum) * (1.0 / 3),
      (g[0] + 0.5 * g[1] + 0.25 * g[2]) * (-16.0 / 15),
      (g[0] - 2 * g[1] + 4 * g[2]) * (1.0 / 15),
      g[2],
      .zero, .zero,
    ]
  }

  @inline(__always)
  static func weights(_ g: InlineArray<3, Vector>) -> WinogradLine {
    let sum = g[0] + g[2]
    let third = splat(1.0 / 3)
    let near = multiplyAdd(splat(0.25), g[2], multiplyAdd(splat(0.5), g[1], g[0]))
    let far = multiplyAdd(splat(4), g[2], multiplyAdd(splat(-2), g[1], g[0]))
    return [
      g[0], (sum + g[1]) * third, (g[1] - sum) * third, near * splat(-16.0 / 15),
      far * splat(1.0 / 15), g[2], .zero, .zero,
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
      .zero, .zero, .zero, .zero,
    ]
  }
}

enum Winograd6: WinogradTransform {
  static var size: Int {
    @inline(__always) get { 6 }
  }

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
    ]
  }

  @inline(__always)
  static func weights(_ g: InlineArray<3, WinogradWeights>) -> WinogradWeightLine {
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
      g[2],
    ]
  }

  @inline(__always)
  static func weights(_ g: InlineArray<3, Vector>) -> WinogradLine {
    let sum = g[0] + g[2]
    let double = multiplyAdd(splat(4), g[2], g[0])
    let half = multiplyAdd(splat(0.25), g[2], g[0])
    return [
      -g[0], (sum + g[1]) * splat(-2.0 / 9), (sum - g[1]) * splat(-2.0 / 9),
      multiplyAdd(splat(2), g[1], double) * splat(1.0 / 90),
      multiplyAdd(splat(-2), g[1], double) * splat(1.0 / 90),
      multiplyAdd(splat(0.5), g[1], half) * splat(32.0 / 45),
      multiplyAdd(splat(-0.5), g[1], half) * splat(32.0 / 45), g[2],
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
      .zero, .zero,
    ]
  }
}
