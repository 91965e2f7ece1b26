/// `exp(|x|) / 2` and its rounding error.
@inline(__always)
private func halfExponential(_ x: Vector) -> (value: Vector, rest: Vector) {
  let (r, n) = reduceExponent(minimum(magnitude(x), splat(91)))
  let t = multiplyAdd(exponentialTail(r), r * r, r)
  let p = t + splat(1)
  let rest = t - (p - splat(1))
  let half = shiftRight(n, 1)
  let other = n &- half &- splat(Int32(1))
  return (p * powerOfTwo(half) * powerOfTwo(other), rest * powerOfTwo(half) * powerOfTwo(other))
}

@inline(__always)
func hyperbolicSine(_ x: Vector) -> Vector {
  let a = magnitude(x)
  let z = a * a
  let p = polynomial(z, [2.782_213_2e-6, 1.984_289_6e-4, 8.333_310_5e-3, 1.666_666_7e-1])
  let (e, rest) = halfExponential(x)
  let far = e + (rest - splat(0.25) / e)
  return turnSign(select(a .< splat(1), multiplyAdd(p * z, a, a), far), by: x)
}

@inline(__always)
func hyperbolicCosine(_ x: Vector) -> Vector {
  let (e, rest) = halfExponential(x)
  return e + (rest + splat(0.25) / e)
}

/// Beyond this limit, `asinh(x)` and `acosh(x)` equal `log(2 · x)`, and the square of `x` may be
/// infinite.
private let areaLimit: Float = 0x1p30

/// `log(1 + y)`, or `log(2 · x)` if `x` is large; preserves infinity and NaN.
@inline(__always)
private func areaLogarithm(_ y: Vector, _ x: Vector) -> Vector {
  let isLarge = x .> splat(areaLimit)
  if all(x .<= splat(areaLimit)) { return logarithm(onePlus: y) }
  let value = logarithm(onePlus: select(isLarge, x, y), twos: select(isLarge, splat(1), .zero))
  return select(x .< splat(.infinity), value, x)
}

@inline(__always)
func areaSine(_ x: Vector) -> Vector {
  let a = magnitude(x)
  let z = a * a
  return turnSign(areaLogarithm(a + z / (splat(1) + squareRoot(z + splat(1))), a), by: x)
}

@inline(__always)
func areaCosine(_ x: Vector) -> Vector {
  let t = x - splat(1)
  let value = areaLogarithm(t + squareRoot(multiplyAdd(t, t, t + t)), x)
  return select(x .< splat(1), splat(.nan), value)
}

@inline(__always)
func areaTangent(_ x: Vector) -> Vector {
  let a = magnitude(x)
  let value = splat(0.5) * logarithm(onePlus: (a + a) / (splat(1) - a))
  let special = select(a .== splat(1), splat(.infinity), splat(.nan))
  return turnSign(select(a .< splat(1), value, special), by: x)
}
