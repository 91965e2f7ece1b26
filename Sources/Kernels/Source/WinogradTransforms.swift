typealias WinogradSix = (Vector, Vector, Vector, Vector, Vector, Vector)
typealias WinogradFour = (Vector, Vector, Vector, Vector)

/// `Bᵀ d`; see `WinogradTiles`.
@inline(__always)
func winogradInput(_ d: WinogradSix) -> WinogradSix {
  let odd = d.3 - d.1
  let even = d.4 - d.2
  let threeHalves = splat(1.5)
  return (
    multiplyAdd(threeHalves, odd, (d.0 - d.2) + even),
    multiplyAdd(threeHalves, d.3 + d.2, even + odd),
    multiplyAdd(threeHalves, d.3 - d.2, even - odd),
    multiplyAdd(splat(2), odd, even),
    multiplyAdd(splat(-0.5), odd, even),
    multiplyAdd(threeHalves, even, (d.5 - d.3) - odd)
  )
}

/// `Aᵀ m`
@inline(__always)
func winogradOutput(_ m: WinogradSix) -> WinogradFour {
  let sum = m.1 + m.2
  let difference = m.1 - m.2
  return (
    (m.0 + sum) + (m.3 + m.4),
    multiplyAdd(splat(-2), m.4, multiplyAdd(splat(0.5), m.3, difference)),
    multiplyAdd(splat(4), m.4, multiplyAdd(splat(0.25), m.3, sum)),
    multiplyAdd(splat(-8), m.4, multiplyAdd(splat(0.125), m.3, difference + m.5))
  )
}

typealias WinogradWeights = SIMD8<Double>

/// `G g`
@inline(__always)
func winogradWeights(
  _ g: (WinogradWeights, WinogradWeights, WinogradWeights)
) -> InlineArray<6, WinogradWeights> {
  let sum = g.0 + g.2
  return [
    g.0,
    (sum + g.1) * (1.0 / 3),
    (g.1 - sum) * (1.0 / 3),
    (g.0 + 0.5 * g.1 + 0.25 * g.2) * (-16.0 / 15),
    (g.0 - 2 * g.1 + 4 * g.2) * (1.0 / 15),
    g.2,
  ]
}
