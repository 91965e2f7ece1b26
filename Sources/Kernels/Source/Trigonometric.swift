import CVector
import LibC

// The polynomials come from Tests/Tools/function_polynomials.py.

/// `r` and `n` with `|x| = n · π/2 + r` and `|r| <= π/4`, exact to float precision if `|x|` is
/// below `angleLimit`. `π/2` is in two parts, the first with 33 bits, so no digits are lost however
/// small `r` is.
@inline(__always)
private func quadrant(_ x: Vector) -> (remainder: DoubleVector, n: IntegerVector) {
  let x = vector_to_double(magnitude(x))
  let n = nearest(x, times: 0.636_619_772_367_581_4)
  let r = multiplyAdd(n, -0x1.921fb544p0, x)
  return (multiplyAdd(n, -6.077_100_506_506_192e-11, r), vector_int_from_double(n))
}

private let angleLimit: Float = 0x1p20

/// `value`, or the C library's result if an angle is too large or not finite.
@inline(__always)
private func mended(_ value: Vector, _ x: Vector, _ function: (Float) -> Float) -> Vector {
  let inside = magnitude(x) .< splat(angleLimit)
  if all(inside) { return value }
  var value = value
  for lane in 0..<lanes where !inside[lane] { value[lane] = function(x[lane]) }
  return value
}

/// `sin r` and `cos r` for `|r| <= π/4`.
@inline(__always)
private func sineAndCosine(_ r: Vector) -> (Vector, Vector) {
  let z = r * r
  let s = polynomial(z, [-1.951_828_5e-4, 8.332_189e-3, -1.666_665_5e-1])
  let c = polynomial(z, [2.443_232_7e-5, -1.388_731e-3, 4.166_664_6e-2])
  return (multiplyAdd(s * z, r, r), multiplyAdd(c * z, z, multiplyAdd(z, splat(-0.5), splat(1))))
}

/// `even` or `odd` by the lowest bit of `n`, negated if the next bit is set.
@inline(__always)
private func chosen(_ n: IntegerVector, _ even: Vector, _ odd: Vector) -> Vector {
  let value = select((n & splat(Int32(1))) .== splat(Int32(0)), even, odd)
  return turnSign(value, by: float(shiftLeft(n, 30)))
}

@inline(__always)
func sine(_ x: Vector) -> Vector {
  let (r, n) = quadrant(x)
  let (s, c) = sineAndCosine(vector_from_double(r))
  return mended(turnSign(chosen(n, s, c), by: x), x) { sinf($0) }
}

@inline(__always)
func cosine(_ x: Vector) -> Vector {
  let (r, n) = quadrant(x)
  let (s, c) = sineAndCosine(vector_from_double(r))
  return mended(chosen(n &+ splat(Int32(1)), s, c), x) { cosf($0) }
}

@inline(__always)
func tangent(_ x: Vector) -> Vector {
  let (remainder, n) = quadrant(x)
  // Near π/4, the tangent doubles the error of the rounded remainder.
  let r = vector_from_double(remainder)
  let rest = vector_from_double(remainder - vector_to_double(r))
  let z = r * r
  let p = polynomial(
    z, square: z * z,
    [
      4.372_299e-3, 9.889_573e-5, 1.082_706_5e-2, 2.128_63e-2, 5.405_890_6e-2, 1.333_267_5e-1,
      3.333_335e-1,
    ])
  let t = multiplyAdd(p, z * r, multiplyAdd(rest, z, rest)) + r
  let value = select((n & splat(Int32(1))) .== splat(Int32(0)), t, splat(-1) / t)
  return mended(turnSign(value, by: x), x) { tanf($0) }
}

/// `asin s = s + t`. Near zero, `s` is `|x|`; elsewhere `s` is `√((1 - |x|) / 2)` and
/// `asin |x| = π/2 - 2 · asin s`.
@inline(__always)
private func arcSineParts(_ x: Vector) -> (isNear: Mask, s: Vector, t: Vector) {
  let a = magnitude(x)
  let isNear = a .<= splat(0.5)
  let z = select(isNear, a * a, multiplyAdd(a, splat(-0.5), splat(0.5)))
  let s = select(isNear, a, squareRoot(z))
  let p = polynomial(
    z, [4.215_838_8e-2, 2.418_474_3e-2, 4.546_915_4e-2, 7.495_309_4e-2, 1.666_675_2e-1])
  return (isNear, s, p * z * s)
}

/// `π/2` is `halfTurn` minus `halfTurnExcess`.
private let halfTurn: Float = 1.570_796_37
private let halfTurnExcess: Float = 4.371_138_8e-8

@inline(__always)
func arcSine(_ x: Vector) -> Vector {
  let (isNear, s, t) = arcSineParts(x)
  let far = splat(halfTurn) - ((s + s) + ((t + t) + splat(halfTurnExcess)))
  return turnSign(select(isNear, s + t, far), by: x)
}

@inline(__always)
func arcCosine(_ x: Vector) -> Vector {
  let (isNear, s, t) = arcSineParts(x)
  let near = splat(halfTurn) - (turnSign(s, by: x) + (turnSign(t, by: x) + splat(halfTurnExcess)))
  let twice = (s + s) + (t + t)
  let beyond = splat(2 * halfTurn) - (twice + splat(2 * halfTurnExcess))
  return select(isNear, near, select(x .< .zero, beyond, twice))
}

@inline(__always)
func arcTangent(_ x: Vector) -> Vector {
  let a = magnitude(x)
  let isFar = a .> splat(1)
  // atan a = π/2 + atan(-1 / a)
  let t = select(isFar, splat(-1) / a, a)
  let z = t * t
  let p = polynomial(
    z,
    [
      -1.782_768_4e-3, 1.086_854_8e-2, -3.109_685_5e-2, 5.788_133_7e-2, -8.399_305_5e-2,
      1.095_088e-1, -1.426_401_6e-1, 1.999_853e-1, -3.333_33e-1,
    ])
  let far = (t + (p * z * t - splat(halfTurnExcess))) + splat(halfTurn)
  return turnSign(select(isFar, far, multiplyAdd(p * z, t, t)), by: x)
}
