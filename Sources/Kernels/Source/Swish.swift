import KernelInterface

/// `x / (1 + exp(-alpha · x))`: the exponential, one sum and one quotient, each rounded
/// separately, so that three separate calls give the same bits.
///
/// If `alpha` is 1, within 2 ULP for `|x| <= 10` and 2.5 ULP down to −88.7, below which the
/// exponential is infinite and the result is zero; NaN stays NaN.
@inline(__always)
func swish(_ x: Vector, _ alpha: Vector) -> Vector {
  swish(InlineArray<1, Vector>(repeating: x), alpha)[0]
}

/// The same for several vectors, interleaved step by step to hide latency.
@inline(__always)
private func swish<let vectors: Int>(
  _ x: InlineArray<vectors, Vector>, _ alpha: Vector
) -> InlineArray<vectors, Vector> {
  let factor = turnSign(alpha, by: splat(-1))
  var r = x
  var n = InlineArray<vectors, IntegerVector>(repeating: .zero)
  // An exponential below exp(-80) does not change the sum with 1.
  for v in 0..<vectors { r[v] = maximum(factor * x[v], splat(-80)) }
  for v in 0..<vectors { r[v] = minimum(r[v], splat(89)) }
  reduceExponents(&r, &n)
  var p = exponentialTails(r)
  for v in 0..<vectors { p[v] = multiplyAdd(p[v], r[v] * r[v], r[v]) }
  // Twice exp(r), so that half of 2ⁿ is finite even for n = 128. Their product is exact or
  // infinite, so a multiply-add can add the 1.
  for v in 0..<vectors { p[v] = multiplyAdd(p[v], splat(2), splat(2)) }
  for v in 0..<vectors { p[v] = multiplyAdd(p[v], powerOfTwo(n[v] &- splat(Int32(1))), splat(1)) }
  for v in 0..<vectors { p[v] = x[v] / p[v] }
  return p
}

/// See `UnaryArguments`.
@inline(never)
func mapSwish(_ a: UnaryArguments) {
  var rest = a
  if a.parameters.channelAlpha == nil {
    let alpha = splat(a.parameters.alpha)
    let scale = splat(a.parameters.scale)
    let shift = splat(a.parameters.shift)
    while rest.count >= 4 &* lanes {
      var x = InlineArray<4, Vector>(repeating: .zero)
      for v in 0..<4 { x[v] = load(rest.input + v &* lanes) }
      if a.parameters.scale != 1 || a.parameters.shift != 0 {
        for v in 0..<4 { x[v] = multiplyAdd(x[v], scale, shift) }
      }
      x = swish(x, alpha)
      if a.accumulates { for v in 0..<4 { x[v] += load(rest.output + v &* lanes) } }
      for v in 0..<4 { store(x[v], rest.output + v &* lanes) }
      rest.input += 4 &* lanes
      rest.output += 4 &* lanes
      rest.count &-= 4 &* lanes
    }
  }
  map(rest) { x, alpha, _ in swish(x, alpha) }
}
